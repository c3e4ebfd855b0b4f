import { filter, firstValueFrom, map, share, switchMap, of, take, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { EventSubscriptions } from '../../../src/core/engine/event-subscriptions.ts'
import type { EngineEvent } from '../../../src/index.ts'

function stream() {
  const reports: unknown[] = []
  const listening: boolean[] = []
  const subscriptions: EventSubscriptions = new EventSubscriptions({
    end: { hasWork: false },
    report: (error) => reports.push(error),
    changed: () => listening.push(subscriptions.types !== 0),
    isBusy: () => false,
    detail: true,
    history: undefined,
  })
  const emit = (invocation: number) => subscriptions.emitPlain(eventOf(invocation))
  return { events$: subscriptions.events({}), emit, complete: () => subscriptions.complete(), reports, listening }
}

function eventOf(invocation: number): EngineEvent {
  return { time: 0, task: 't', invocation, type: 'stopped', reason: 'stopped' }
}

const boom = new Error('boom')
const thrower = () => {
  throw boom
}

describe('a subscriber that throws', () => {
  it.each<[string, (s: ReturnType<typeof stream>) => void]>([
    ['as a function', ({ events$ }) => events$.subscribe(thrower)],
    ['as an observer', ({ events$ }) => events$.subscribe({ next: thrower })],
    ['behind map', ({ events$ }) => events$.pipe(map((n) => n)).subscribe(thrower)],
    [
      'behind map and filter',
      ({ events$ }) =>
        events$
          .pipe(
            map((n) => n),
            filter(() => true),
          )
          .subscribe({ next: thrower }),
    ],
    ['behind share', ({ events$ }) => events$.pipe(share()).subscribe(thrower)],
    ['behind switchMap', ({ events$ }) => events$.pipe(switchMap((n) => of(n))).subscribe(thrower)],
    ['inside map', ({ events$ }) => events$.pipe(map(thrower)).subscribe()],
    ['inside map, with no handler of errors', ({ events$ }) => events$.pipe(map(thrower)).subscribe(() => undefined)],
    ['inside its handler of errors', ({ events$ }) => events$.pipe(map(thrower)).subscribe({ error: thrower })],
  ])('%s is reported, and the others continue', (_, subscribe) => {
    const s = stream()
    const before: number[] = []
    const after: number[] = []
    s.events$.subscribe(({ invocation }) => before.push(invocation))
    subscribe(s)
    s.events$.subscribe(({ invocation }) => after.push(invocation))
    s.emit(1)
    s.emit(2)
    expect(s.reports[0]).toBe(boom)
    expect(before).toEqual([1, 2])
    expect(after).toEqual([1, 2])
  })

  it('receives the next event after it threw', () => {
    const s = stream()
    let calls = 0
    s.events$.subscribe(() => {
      calls++
      throw boom
    })
    s.emit(1)
    s.emit(2)
    expect(calls).toBe(2)
  })

  it('on completion is reported, too', () => {
    const s = stream()
    s.events$.subscribe({ complete: thrower })
    s.complete()
    expect(s.reports).toEqual([boom])
  })
})

describe('the stream', () => {
  it('passes an error in a pipe to its own error handler, and reports nothing', () => {
    const s = stream()
    const errors: unknown[] = []
    s.events$.pipe(map(thrower)).subscribe({ error: (error) => errors.push(error) })
    s.emit(1)
    expect(errors).toEqual([boom])
    expect(s.reports).toEqual([])
  })

  it('completes its subscribers, including those behind operators', async () => {
    const s = stream()
    const all = firstValueFrom(
      s.events$.pipe(
        map(({ invocation }) => invocation * 2),
        toArray(),
      ),
    )
    s.emit(1)
    s.emit(2)
    s.complete()
    expect(await all).toEqual([2, 4])
  })

  it('reports the arrival of the first subscriber and the departure of the last', () => {
    const s = stream()
    const a = s.events$.subscribe()
    const b = s.events$.subscribe()
    a.unsubscribe()
    expect(s.listening.at(-1)).toBe(true)
    b.unsubscribe()
    expect(s.listening.at(-1)).toBe(false)
  })

  it('forgets a subscriber that has unsubscribed', () => {
    const s = stream()
    s.events$.pipe(take(1)).subscribe()
    s.emit(1)
    expect(s.listening.at(-1)).toBe(false)
  })

  it('lets a subscriber leave in the middle of an event', () => {
    const s = stream()
    const seen: string[] = []
    const first = s.events$.subscribe(() => {
      seen.push('first')
      first.unsubscribe()
    })
    s.events$.subscribe(() => seen.push('second'))
    s.emit(1)
    s.emit(2)
    expect(seen).toEqual(['first', 'second', 'second'])
  })
})
