/**
 * Scheduler with a variable as its clock. It stores timers but never runs them; in the workloads they never fall due.
 */
import { Subscription, type SchedulerAction, type SchedulerLike } from 'rxjs'
import type { Clock } from '../events.ts'

export interface ClockScheduler extends SchedulerLike {
  overdue(): number
}

export function clockScheduler(clock: Clock): ClockScheduler {
  const due = new Set<{ at: number }>()
  return {
    now: () => clock.now,
    schedule<T>(_work: (this: SchedulerAction<T>, state: T) => void, delay = 0): Subscription {
      const timer = { at: clock.now + delay }
      due.add(timer)
      return new Subscription(() => due.delete(timer))
    },
    overdue: () => [...due].filter((timer) => timer.at <= clock.now).length,
  }
}
