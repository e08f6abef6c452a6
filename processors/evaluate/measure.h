/* Times of experiments. They go into the report and nowhere else. */
#ifndef SP_EVALUATE_MEASURE_H
#define SP_EVALUATE_MEASURE_H

/* Seconds of processor time of the calling thread: other work on the machine does not slow it. */
double sp_measure_cpu(void);
/* Seconds of the clock on the wall, from some moment on. */
double sp_measure_clock(void);

#endif
