/** Tests that neither latency of answers nor crashes meanwhile change results of the durable runner. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { latencyCases } from '../../../support/arbitraries/latency-cases.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { CASE_START, type CaseStep, type LatencyCase } from '../../../support/latency/latency-case.ts'
import { laneLines } from '../../../support/latency/run-case.ts'
import { SlowPlugs, type Answers } from '../../../support/latency/slow-plugs.ts'
import { Ground, runnableOf, TENANT, type Life } from './support/lives.ts'

type Scheduler = Extract<Answers, { readonly clock: unknown }>['clock']

const TASK = 'a'
const MAX_INSTANTS = 20_000

/** Feeds a case to one runner after another. */
class Driver {
  readonly slow: SlowPlugs
  readonly #ground = new Ground()
  readonly #given: LatencyCase
  #opened = 0
  life: Life

  constructor(given: LatencyCase, answers: (clock: Scheduler) => Answers) {
    this.#given = given
    this.slow = new SlowPlugs(
      answers({ schedule: (work, delay, state) => this.life.clock.schedule(work, delay, state) }),
    )
    this.life = this.#open(CASE_START)
  }

  async take({ at, input }: CaseStep): Promise<void> {
    await this.life.to(CASE_START + at)
    const { intake, nodes } = this.life.runner
    if (nodes.info(TASK)?.status !== 'running') return
    if (input.kind === 'data') await intake.receive([{ messages: input.messages }])
    else if (input.kind === 'push') await nodes.push(TASK, input.node, { state: input.state })
    else await nodes.command(TASK, input.node, input.kind === 'run' ? 'start' : 'resume')
    await this.life.rest()
  }

  /** Starts the next process at once, with the time as the disk knows it. */
  async crash(at: number): Promise<void> {
    await this.life.to(Math.max(this.life.clock.now(), CASE_START + at))
    const store = this.life.storage.tenant(TENANT)
    const mark = await store.collection<{ time: number }>({ name: 'rule_marks', version: 1, fields: {} }).get('inputs')
    const { first, last } = await store.log('log').bounds()
    const [entry] = last < first ? [] : await store.log('log').read(last - 1, 1)
    const known = Math.max(mark?.value.time ?? 0, (entry?.body as { at?: number } | undefined)?.at ?? 0)
    this.slow.crash()
    await this.life.crash()
    this.life = this.#open(known)
    await this.life.runner.resume([this.task])
    await this.life.rest()
  }

  async toEnd(): Promise<void> {
    const { clock } = this.life
    for (let instants = 0; clock.nextAt() !== undefined; instants++) {
      if (instants > MAX_INSTANTS) throw new Error('the case does not end')
      await this.life.to(clock.nextAt() ?? 0)
    }
  }

  get task() {
    return runnableOf(TASK, this.#given.rule, this.#given.rule.task)
  }

  #open(at: number): Life {
    // checkpoints are frequent in every other life, with default settings in between
    const often = this.#opened++ % 2 === 0 ? { checkpointMs: 500 } : {}
    return this.#ground.open({ at, ...often, plugs: this.slow.plugs })
  }
}

interface Seen {
  readonly calls: readonly string[]
  readonly attempts: Readonly<Record<string, readonly string[]>>
  /** The visible state of the task, its sensors and its relations */
  readonly look: unknown
  readonly broken: readonly string[]
}

async function lived(
  given: LatencyCase,
  answers: (clock: Scheduler) => Answers,
  crashes: readonly number[] = [],
): Promise<Seen & { readonly events: readonly string[] }> {
  const driver = new Driver(given, answers)
  const events = driver.life.events(driver.task.id)
  await driver.life.begin(driver.task)
  const left = [...crashes]
  for (const step of given.steps) {
    for (let crash = left[0]; crash !== undefined && crash < step.at; crash = left[0]) {
      await driver.crash(crash)
      left.shift()
    }
    await driver.take(step)
  }
  for (const crash of left) await driver.crash(crash)
  await driver.toEnd()
  const { info, view } = driver.life.look(TASK) as { info: { health: object }; view: { kind: string }[] }
  await driver.life.close()
  const { calls, attempts, broken } = driver.slow
  return {
    calls,
    attempts: Object.fromEntries(attempts),
    // latency determines what waited when a onetime task ended, and when its last actuator answered
    look: {
      info: { ...info, finishedTime: undefined, health: { ...counted(info.health), dropped: undefined } },
      view: view.filter(({ kind }) => kind !== 'actuator'),
    },
    broken,
    events: laneLines(events, given.rule),
  }
}

/** Drops counts of zero. Latency also determines whether a onetime task had ended when a stamped message arrived. */
function counted(health: object): object {
  return Object.fromEntries(Object.entries(health).filter(([name, value]) => value !== 0 || name.startsWith('errors')))
}

const atOnce = (given: LatencyCase) => lived(given, () => 'at once')
const slowly = (given: LatencyCase, crashes?: readonly number[]) =>
  lived(given, (clock) => ({ clock, latencies: given.latencies }), crashes)

describe('a task of the durable runner with slow answers', () => {
  it('behaves as it does with immediate answers', () =>
    fc.assert(
      fc.asyncProperty(latencyCases(), async (given) => {
        expect(await slowly(given)).toEqual(await atOnce(given))
      }),
      runs(40),
    ))

  it('behaves so even if its process crashes', () =>
    fc.assert(
      fc.asyncProperty(latencyCases(), async (given) => {
        const { events: _events, ...seen } = await slowly(given, given.crashes)
        const { events: __events, ...measure } = await atOnce(given)
        expect(seen).toEqual(measure)
      }),
      runs(40),
    ))
})
