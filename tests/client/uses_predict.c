/* How a crawler uses include/samepage/predict.h; C99 and C++11. */
#include <samepage/predict.h>

#include <stdio.h>

int main(void)
{
    struct samepage_predictor *rules = samepage_predictor_new();
    struct samepage_prediction said;
    char url[64];
    int found, i;
    for (i = 0; i < 100; i++) {
        snprintf(url, sizeof url, "http://a.example/%d?sid=%d", i / 2, i);
        samepage_predict_learn(rules, url, url, 20); /* equal for both visitors */
    }
    found = samepage_predict(rules, "http://a.example/7?sid=777", 0.5, &said);
    printf("%s\n", found ? said.url : "not known");
    samepage_predictor_free(rules);
    return 0;
}
