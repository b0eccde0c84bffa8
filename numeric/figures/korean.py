"""The messages of the figures in Korean; the keys and the markup are those of english.py."""

MESSAGES = {
    "axis.position": "위치",
    "axis.pair": "열의 쌍 *m*",
    "axis.offset": "위치의 차이 *k*",
    "axis.scale": "로짓의 배율 *b*",
    "axis.largest_entry": "가장 큰 |*J*_[ij](*b z*)|",
    "axis.d_k": "차원 *d*_[k]",
    "positional_encoding.title": "위치 인코딩: 이동은 회전이다",
    "positional_encoding.pair": "쌍 {m}",
    "positional_encoding.caption": (
        "위: 위치 {positions}개를 열 {width}개로 나타낸 인코딩. −1(파랑)부터 1(주황)까지이며, 쌍 *m*의 진동수는 ω_[m]이다. 아래: 네 쌍 (sin, cos)을 시곗바늘로 "
        "그린 것. 위치 *t* = {t}(회색)에서 *t* + *k*(파랑)로, *k* = {k}만큼 옮기면 각 쌍은 *t*와 관계없이 각 *k* ω_[m]만큼 돈다. 이 회전을 모두 모은 행렬이 "
        "T^[(k)]이다."
    ),
    "positional_encoding.alt": "첫 쌍에서 마지막 쌍으로 갈수록 길어지는 줄무늬 지도와 네 개의 원. 같은 {k}칸 이동이 쌍 0, 1, 2, 3을 {angles}만큼 돌린다.",
    "position_similarity.title": "유사도는 위치의 차이에만 달려 있다",
    "position_similarity.upward": "PE_[p]와 PE_[p+k]의 내적",
    "position_similarity.start": "*p* = {p}",
    "position_similarity.caption": (
        "서로 멀리 떨어진 세 위치 *p*에 대한 *p*와 *p* + *k*의 인코딩(열 {width}개)의 내적. 모두 한 곡선 Σ_[m] cos(ω_[m] *k*) 위에 있다. 위치 자체는 "
        "상쇄되고, 앞으로 간 것과 뒤로 간 것은 똑같이 비슷하며, 모든 인코딩의 길이의 제곱은 {largest}이다."
    ),
    "position_similarity.alt": (
        "차이 0에서 최댓값 {largest}를 갖는 대칭 곡선이 차이 {furthest}에서 약 {far}까지 내려간다. 위치 0, 100, 1000의 동그라미, 네모, 세모가 모두 그 위에 있다."
    ),
    "softmax_temperature.title": "온도에 따른 소프트맥스의 야코비 행렬",
    "softmax_temperature.weights": "가중치 *s*, 그 아래 *J*_[ij] = *s*_[i](δ_[ij] − *s*_[j])",
    "softmax_temperature.caption": (
        "로짓 {logits}을 온도 *T*로 나눈 것의 소프트맥스. 막대는 가중치, 지도는 나눈 로짓에 대한 야코비 행렬로 −1/4(파랑)부터 1/4(주황)까지이다. 대칭이고 각 행의 합은 0이다. "
        "온도가 낮을수록 가중치는 원-핫에, 야코비 행렬은 0에 가까워진다."
    ),
    "softmax_temperature.alt": (
        "네 칸의 그림. 온도 8에서는 가중치가 거의 같고 1/16에서는 하나가 거의 1이다. 야코비 행렬의 가장 큰 성분은 {largest_0}, {largest_1}, {largest_2}, "
        "{largest_3}로 바뀐다."
    ),
    "softmax_saturation.title": "기울기는 사라진다, 동점이 아니라면",
    "softmax_saturation.strict": "최댓값이 하나",
    "softmax_saturation.tied": "두 로짓이 동점: 1/4로 수렴",
    "softmax_saturation.bound": "증명된 상계: (*n* − 1) *e*^[−bg]",
    "softmax_saturation.caption": (
        "로짓이 커질 때 소프트맥스 야코비 행렬의 가장 큰 성분. 로짓이 ({strict_logits})이면 최댓값이 하나이고 다음 로짓과의 차이는 *g* = {gap}이며, 성분들은 증명된 상계 "
        "아래에 있다. ({tied_logits})이면 두 로짓이 최댓값을 나누어 갖고, 로짓이 아무리 커도 성분 1/4이 남는다. 점수가 크면 기울기가 사라진다는 말은 최댓값이 하나뿐이라는 조건이 "
        "없으면 거짓이다."
    ),
    "softmax_saturation.alt": (
        "로그 축에서 최댓값이 하나인 곡선은 상계 아래에서 직선으로 내려가 배율 {scale}에서 {strict}이 되고, 동점인 곡선은 {tied}까지 올라가 그대로 있다."
    ),
    "score_variance.title": "점수를 √*d*_[k]로 나누는 까닭",
    "score_variance.upward": "점수의 분산",
    "score_variance.plain": "*q* · *k*, 증명된 값: *d*_[k]",
    "score_variance.scaled": "*q* · *k* / √*d*_[k], 증명된 값: 1",
    "score_variance.normal": "정규분포 성분",
    "score_variance.signs": "무작위 부호 성분",
    "score_variance.caption": (
        "차원 *d*_[k]마다 무작위 쿼리와 키 {pairs}쌍에 대한 점수의 분산과, 증명된 값(점선). 쿼리와 키는 서로 독립이며, 성분은 평균과 이차 적률만이 중요하다. 그래서 성분이 무작위 "
        "부호이든 정규분포를 따르든 결과는 같다."
    ),
    "score_variance.alt": "로그 축에서 나누지 않은 점수의 분산은 1에서 {largest}까지 직선 *d*_[k] 위에 있고, 나눈 점수의 분산은 수평선 1 위에 있다.",
    "attention_masks.title": "쿼리가 남기는 키",
    "attention_masks.causal": "인과 마스크",
    "attention_masks.padding": "패딩 마스크",
    "attention_masks.both": "둘 다",
    "attention_masks.pad": "패딩",
    "attention_masks.kept": "남김",
    "attention_masks.dropped": "버림: 가중치 0",
    "attention_masks.axes": "행은 쿼리 *i*, 열은 키 *j*",
    "attention_masks.caption": (
        "토큰 {n}개의 어텐션 마스크. 마지막 {padded}개는 패딩이다. 인과 마스크는 *j* ≤ *i*인 키를, 패딩 마스크는 패딩이 아닌 키를, 둘을 합치면 양쪽이 모두 남기는 키를 남긴다. "
        "버린 키의 가중치는 정확히 0이고, 남긴 키의 가중치의 합은 1이다."
    ),
    "attention_masks.alt": "쿼리와 키의 격자 세 개. 인과 격자는 대각선과 그 아래가, 패딩 격자는 처음 {left}개 열이, 셋째는 둘 다 채워진 곳이 채워져 있다.",
    "error_allowances.title": "맞음, 불안정, 틀림: 검사기의 판정",
    "error_allowances.right": "맞음: {verdict}",
    "error_allowances.unstable": "불안정, 평균 *x*^[2] − (평균 *x*)^[2]: {verdict}",
    "error_allowances.wrong": "틀림, *d* − 1로 나눔: {verdict}",
    "error_allowances.allowance": "시험마다 가장 큰 오차, 허용 오차를 단위로",
    "error_allowances.caption": (
        "float32로 쓴 세 가지 층 정규화의 시험 {probes}개마다 가장 큰 오차를, 반올림이 일으킬 수 있는 오차의 상계인 허용 오차를 단위로 나타낸 것. 맞는 구현은 어디서나 1 안에 "
        "있다. 한 번에 구하는 분산은 식으로는 맞지만 시험 {unstable}개에서 자릿수를 잃고, 불편분산은 {wrong}개에서 틀린다. 검사기는 이들을 {names}(이)라고 부른다. 0에 있는 "
        "시험에는 오차가 전혀 없다."
    ),
    "error_allowances.alt": (
        "로그 축 위의 세 띠. 첫째 띠의 표시는 모두 허용 오차의 왼쪽에 있고, 둘째 띠에서는 {unstable}개가, 셋째 띠에서는 {wrong}개가 그 오른쪽에, 더러는 훨씬 멀리 있다."
    ),
    "verdict.pass": "통과",
    "verdict.inconclusive": "판정 불가",
    "verdict.variant": "변형",
    "verdict.fail": "실패",
    "verdict.error": "오류",
}
