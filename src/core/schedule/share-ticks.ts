/** Shares one stream of ticks among tasks with equal schedules. */
import { Observable, finalize, share, tap, type SchedulerLike } from 'rxjs'
import type { Schedule } from './schedule.ts'
import { ticks$, type Tick, type TickOptions } from './ticks.ts'

export interface SharedTicks {
  /** Returns ticks from the subscription on. A second subscriber at the same instant still receives that tick. */
  of(schedule: Schedule): Observable<Tick>
  readonly size: number
}

/** A stream ends with its last subscriber. Fixed delays are never shared, since each follows its own work. */
export function shareTicks(
  scheduler: SchedulerLike,
  options: Pick<TickOptions, 'misfire' | 'maxLatenessMs' | 'cap' | 'graceMs' | 'recheckMs'> = {},
): SharedTicks {
  const streams = new Map<string, SharedStream>()

  const open = (schedule: Schedule): SharedStream => {
    const known = streams.get(schedule.key)
    if (known) return known
    const stream: SharedStream = {
      last: undefined,
      all$: ticks$(schedule, scheduler, options).pipe(
        tap((tick) => (stream.last = tick)),
        finalize(() => streams.delete(schedule.key)),
        share(),
      ),
    }
    streams.set(schedule.key, stream)
    return stream
  }

  return {
    of: (schedule) => {
      if (schedule.fixedDelay) return ticks$(schedule, scheduler, options)
      return new Observable((subscriber) => {
        const stream = open(schedule)
        const { last } = stream
        if (last && last.scheduledAt === schedule.first(scheduler.now())) subscriber.next(last)
        return stream.all$.subscribe(subscriber)
      })
    },
    get size() {
      return streams.size
    },
  }
}

interface SharedStream {
  last: Tick | undefined
  all$: Observable<Tick>
}
