/**
 * Checks that effects on one thing happen one after the other in firing order, so that the last firing decides the
 * result.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/core/simulate/virtual-clock.ts'
import type { FiredEvent } from '../../src/core/engine/events.ts'
import type { PlugAnswer } from '../../src/core/plug/plug.ts'
import { createEngine, type Engine, type Plug, type Rule, type SavedTask } from '../../src/index.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { promisesSettled } from '../support/live-engine.ts'
import { actuatorPlug, sensorPlug } from '../support/make-plug.ts'

interface AlarmCase {
  /** whether each value is high, and ms since the previous message */
  readonly messages: readonly { readonly high: boolean; readonly gap: number }[]
  /** ms per call; the list repeats */
  readonly latencies: readonly number[]
  /** failed attempts of effects; the list repeats */
  readonly fails: readonly number[]
  /** whether a failing call reaches the alarm anyway, as when only the response is lost */
  readonly failsLate: boolean
  /** ms at which the process is killed */
  readonly crashes: readonly number[]
}

const NAME = 'HOT'
const RETRY = { maxRetries: 3, minBackoff: '100ms', maxBackoff: 'PT1S' }

const ruleOf = (unordered: boolean): Rule => ({
  sensors: [{ label: 'level', name: 'level', resource: 'r' }],
  actuators: ['raise', 'clear'].map((label) => ({
    label,
    name: 'alarm',
    properties: { does: label, text: '${streamdata.n}' },
    retryConfig: RETRY,
    timeout: 'PT1H',
    unordered,
  })),
  triggers: [
    { sourceLabel: 'level', destinationLabel: 'raise', stateChangeTrigger: { stateFrom: '*', stateTo: 'High' } },
    { sourceLabel: 'level', destinationLabel: 'clear', stateChangeTrigger: { stateFrom: '*', stateTo: 'Low' } },
  ],
  task: { type: 'reactive', resetObservations: false },
})

/** Simulates a remote alarm: calls take time, may fail, and take effect on arrival. */
class FarAlarm {
  raised = false
  /** effects on the alarm, each once however often it was sent */
  readonly done = new Map<string, string>()
  mostOpen = 0
  readonly plugs: readonly Plug[]
  readonly #attempts = new Map<string, number>()
  #open = 0
  #life = 0
  #calls = 0

  constructor(clock: VirtualClock, { latencies, fails, failsLate }: AlarmCase) {
    const level = sensorPlug('level', ['Low', 'High'], (context) =>
      context.streamValue('high') === true ? 'High' : 'Low',
    )
    const alarm = actuatorPlug('alarm', {
      input: { does: { type: 'string' }, text: { type: 'any' } },
      touches: () => [`alarm:${NAME}`],
      execute: ({ id, properties }) => {
        const life = this.#life
        const latency = latencies[this.#calls++ % latencies.length] ?? 0
        const number = this.#numberOf(id)
        const attempt = this.#attempts.get(id) ?? 0
        this.mostOpen = Math.max(this.mostOpen, ++this.#open)
        return new Promise<PlugAnswer<never>>((resolve, reject) => {
          const land = (): void => {
            if (life !== this.#life) return
            this.#open--
            const isOk = attempt >= (fails[number % fails.length] ?? 0)
            if (isOk || failsLate)
              this.#do(id, properties.does === 'raise', `${properties.does} ${String(properties.text)}`)
            this.#attempts.set(id, attempt + 1)
            if (isOk) resolve({ message: 'done' })
            else reject(new Error('busy'))
          }
          clock.schedule(land, latency)
        })
      },
    })
    this.plugs = [level, alarm]
  }

  crash(): void {
    this.#life++
    this.#open = 0
  }

  #numberOf(id: string): number {
    if (!this.#attempts.has(id)) this.#attempts.set(id, 0)
    return [...this.#attempts.keys()].indexOf(id)
  }

  #do(id: string, raised: boolean, what: string): void {
    this.raised = raised
    this.done.set(id, what)
  }
}

async function play(given: AlarmCase, unordered = false): Promise<{ alarm: FarAlarm; firings: FiredEvent[] }> {
  const clock = new VirtualClock(0)
  const alarm = new FarAlarm(clock, given)
  const firings: FiredEvent[] = []
  const open = (): Engine => {
    const engine = createEngine({ plugs: alarm.plugs, scheduler: clock, ids: () => 't', seed: 1 })
    engine.events$.subscribe((event) => void (event.type === 'fired' && firings.push(event)))
    return engine
  }
  let engine = open()
  await engine.start(ruleOf(unordered))
  let at = 0
  for (const [n, { high, gap }] of given.messages.entries()) {
    at += gap
    clock.schedule(() => void engine.receive({ resource: 'r', high, n }), at)
  }
  const crashes = [...given.crashes]
  for (let next = clock.nextAt(); next !== undefined; next = clock.nextAt()) {
    const [crash] = crashes
    clock.advanceTo(crash === undefined ? next : Math.min(next, crash))
    await promisesSettled()
    if (crash === undefined || clock.now() < crash) continue
    crashes.shift()
    const saved = JSON.stringify(engine.tasks.get('t')?.save())
    alarm.crash()
    await engine.close()
    engine = open()
    await engine.restore(JSON.parse(saved) as SavedTask)
    await promisesSettled()
  }
  await engine.close()
  return { alarm, firings }
}

const cases: fc.Arbitrary<AlarmCase> = fc.record({
  messages: fc.array(fc.record({ high: fc.boolean(), gap: fc.constantFrom(0, 50, 200, 1000) }), {
    minLength: 1,
    maxLength: 8,
  }),
  latencies: fc.array(fc.nat(900), { minLength: 1, maxLength: 6 }),
  fails: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }),
  failsLate: fc.boolean(),
  crashes: fc.array(fc.nat(4000), { maxLength: 3 }).map((times) => times.toSorted((one, other) => one - other)),
})

/** Raises, clears and raises an alarm; the first call takes longest. */
const RAISE_CLEAR_RAISE: AlarmCase = {
  messages: [true, false, true].map((high) => ({ high, gap: 100 })),
  latencies: [900, 500, 10],
  fails: [1, 0],
  failsLate: true,
  crashes: [],
}

describe('an alarm that is raised and cleared by calls that take their time and fail', () => {
  it('ends as the last firing requires, whatever the latencies, retries and crashes', () =>
    fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const { alarm, firings } = await play(given)
        expect(alarm.mostOpen).toBeLessThanOrEqual(1)
        expect(alarm.raised).toBe(firings.at(-1)?.node === 'raise')
        const changes = given.messages.flatMap(({ high }, n) => {
          return given.messages[n - 1]?.high === high ? [] : [`${high ? 'raise' : 'clear'} ${n}`]
        })
        expect([...alarm.done.values()]).toEqual(changes)
        expect([...alarm.done.keys()]).toEqual(firings.map(({ effect }) => effect))
      }),
      runs(250),
    ))

  it('is called by several at once when their nodes are unordered', async () => {
    const { alarm, firings } = await play(RAISE_CLEAR_RAISE, true)
    expect(alarm.mostOpen).toBe(3)
    expect([...alarm.done.keys()].toSorted()).toEqual(firings.map(({ effect }) => effect))
  })
})
