#ifndef TIMER_H
#define TIMER_H
void TIMER_Init(void);
int TIMER_GetTimeInUS(void);
#endif
