/** Tests that a rehearsal of a task over kept inputs repeats what fired live, event for event. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineEvent, Rule } from '../../../../src/index.ts'
import type { InternalRules, Rehearsal, RehearsalRequest } from '../../../../src/services/rules/contract.ts'
import { createRegistry } from '../../../../src/core/index.ts'
import { generatorHere } from '../../../../src/platform/generate.ts'
import { createRulesService } from '../../../../src/services/rules/service.ts'
import { runsHere } from '../../../../src/services/rules/tools/direct-runs.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { Ground, TENANT, type Life } from '../durable/support/lives.ts'

const START = Date.UTC(2026, 10, 20, 12)
const MINUTE = 60_000
const KEEP = { ageMs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, checkpointMs: 20_000 }

const sensor = fc
  .record({
    name: fc.constantFrom('level', 'level', 'bound', 'bound', 'count', 'count', 'ask'),
    resource: fc.constantFrom('$', '$', 'other'),
    evictionTime: fc.constantFrom(undefined, undefined, 5_000, 70_000),
  })
  .map(({ evictionTime, ...one }) => ({ ...one, ...(evictionTime && { evictionTime }) }))

const STATES: Readonly<Record<string, readonly string[]>> = {
  level: ['LOW', 'HIGH'],
  bound: ['LOW', 'HIGH'],
  count: ['EVEN', 'ODD'],
  ask: ['NO', 'YES'],
}

const trigger = fc.record({
  from: fc.nat(5),
  state: fc.nat(1),
  kind: fc.constantFrom('state', 'begins', 'policy', 'chain'),
})

const rule: fc.Arbitrary<Rule> = fc
  .record({
    sensors: fc.array(sensor, { minLength: 1, maxLength: 3 }),
    triggers: fc.array(trigger, { minLength: 1, maxLength: 4 }),
    task: fc.constantFrom(
      { type: 'reactive' as const },
      { type: 'reactive' as const, duplicates: 'drop' as const },
      { type: 'reactive' as const, time: 'arrival' as const },
      { type: 'reactive' as const, reorder: 'PT3S' },
      { type: 'periodic' as const, frequency: 4_000 },
    ),
  })
  .map(({ sensors, triggers, task }) => ({
    sensors: sensors.map((one, i) => ({ label: `s${i}`, ...one })),
    actuators: [{ label: 'note', name: 'note' }],
    triggers: triggers.map(({ from, state, kind }) => {
      const source = from % sensors.length
      const states = [STATES[sensors[source]?.name ?? '']?.[state] ?? '']
      const next = sensors.findIndex((_, i) => i > source)
      const destinationLabel = kind === 'chain' && next > 0 ? `s${next}` : 'note'
      return {
        sourceLabel: `s${source}`,
        destinationLabel,
        ...(kind === 'begins' ? { begins: states } : { statesTrigger: states }),
        ...(kind === 'policy' && { invocationPolicy: 3 }),
      }
    }),
    task: { ...task, name: 'T', resource: 'boiler' },
  }))

type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'send'; readonly resource: string; readonly level: unknown; readonly age: number | null }
  | { readonly do: 'course'; readonly levels: readonly number[] }
  | { readonly do: 'repeat' | 'push' | 'round' | 'flush' | 'stop' | 'crash' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 700, 3_000, 9_000, 80_000) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      resource: fc.constantFrom('boiler', 'boiler', 'other', 'none'),
      level: fc.constantFrom<unknown>(1, 12, 13, 12, null, { low: 1 }, [3], 'high'),
      age: fc.constantFrom(null, 0, 500, 4_000, 50_000, -2_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('course' as const), levels: fc.array(fc.nat(20), { maxLength: 9 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step>({ do: 'repeat' }, { do: 'push' }, { do: 'round' }, { do: 'flush' }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'stop' }, { do: 'crash' }) },
)

class Host {
  id = ''
  readonly fired: EngineEvent[] = []
  readonly #ground = new Ground()
  #life: Life | undefined
  #service: InternalRules | undefined
  #inRows: InternalRules | undefined
  #now = START
  #last: readonly [string, Record<string, unknown>] | undefined
  #ids = 0

  get api() {
    return this.#running.service.as({ tenant: TENANT, user: 'tester' })
  }

  get now(): number {
    return this.#now
  }

  get #running(): { readonly life: Life; readonly service: InternalRules } {
    const [life, service] = [this.#life, this.#service]
    if (life === undefined || service === undefined) throw new Error('the host is not open')
    return { life, service }
  }

  async open(): Promise<void> {
    const { plugs } = this.#ground.outside
    const life = this.#ground.open({ at: this.#now, keepInputs: KEEP })
    const options = {
      tenant: TENANT,
      store: life.storage.tenant(TENANT),
      runner: life.runner,
      kept: () => life.runner.past.kept,
      plugs: () => plugs,
      now: () => life.clock.now(),
      newId: () => `t${this.#ids++}`,
    }
    const service = createRulesService(options)
    const now = () => life.clock.now()
    const rows = runsHere({ registry: createRegistry(plugs), ports: {}, now, generate: generatorHere() })
    const elsewhere = { ...rows, onlyHere: () => [], counted: <T>(work: () => T) => work() }
    this.#life = life
    this.#service = service
    this.#inRows = createRulesService({ ...options, elsewhere })
    if (this.id !== '') this.#watch(life)
    await service.start()
    await life.rest()
  }

  async begin(wanted: Rule): Promise<void> {
    this.id = `t${this.#ids}`
    this.#watch(this.#running.life)
    this.id = (await this.api.tasks.create(wanted)).ID
    await this.#running.life.rest()
  }

  async take(one: Step): Promise<void> {
    const { life, service } = this.#running
    switch (one.do) {
      case 'wait':
        this.#now += one.ms
        return life.to(this.#now)
      case 'send':
        this.#last = [one.resource, { level: one.level, ...(one.age !== null && { timestamp: this.#now - one.age }) }]
        await life.send(...this.#last)
        return life.rest()
      case 'course':
        for (const level of one.levels) {
          this.#now += 1_000
          await life.to(this.#now)
          await life.send('boiler', { level, timestamp: this.#now })
          await life.rest()
        }
        return
      case 'repeat':
        if (this.#last !== undefined) await life.send(...this.#last)
        return life.rest()
      case 'push':
        await this.api.inspection.push(this.id, 's0', { rawData: { by: 'hand' } })
        return life.rest()
      case 'round':
      case 'flush':
        return life.runner.inputs?.round(one.do === 'flush')
      case 'stop':
      case 'crash':
        // what is due acts before the end; otherwise it would act during the recovery, which emits no events
        await life.to(this.#now)
        if (one.do === 'crash') await life.crash()
        await service.stop().catch(() => undefined)
        if (one.do === 'stop') await life.close()
        this.#now += 2_000
        return this.open()
    }
  }

  /** Rehearses one message after the other, and in rows. */
  async rehearse(request: RehearsalRequest): Promise<readonly Partial<Rehearsal>[]> {
    return Promise.all(
      [this.#service, this.#inRows].map(async (service) => {
        const answer = (await service?.as({ tenant: TENANT, user: 'tester' }).rehearsals.run(request)) as Rehearsal
        const { id: _id, createTime: _createTime, ...rest } = answer
        return rest
      }),
    )
  }

  async close(): Promise<void> {
    await this.#running.service.stop()
    await this.#running.life.close()
  }

  #watch(life: Life): void {
    life.runner.reports.watch(this.id).subscribe((event) => {
      if (event.type === 'fired') this.fired.push(event)
    })
  }
}

// Holds REHEARSE-4
describe('a rehearsal over kept inputs', () => {
  it('fires as the live task did, also for late, repeated and odd messages, and across restarts', async () => {
    await fc.assert(
      fc.asyncProperty(rule, fc.array(step, { minLength: 3, maxLength: 30 }), async (wanted, steps) => {
        const host = new Host()
        await host.open()
        await host.begin(wanted)
        for (const one of steps) await host.take(one)
        await host.take({ do: 'wait', ms: 1 })
        const request = { task: host.id, source: { from: START - MINUTE, until: host.now }, calls: 'recorded' } as const
        const rehearsed = async (body: RehearsalRequest): Promise<Partial<Rehearsal>> => {
          const [plain = {}, inRows = {}] = await host.rehearse(body)
          expect(inRows).toEqual(plain)
          return inRows
        }
        const answer = await rehearsed(request)
        const both = { ...request, initialState: 'warm', compareWith: { task: host.id } } as const
        const compared = await rehearsed(both)
        const other = { ...wanted, triggers: wanted.triggers?.slice(0, 1) ?? [] }
        const sweep = { '/triggers/0/invocationPolicy': [0, 2, 60] }
        for (const calls of ['none', 'recorded'] as const)
          await rehearsed({ ...request, calls, compareWith: { rule: other }, sweep })
        await rehearsed({ ...request, calls: 'none', order: 'time', sweep, events: { types: ['state', 'held'] } })
        await host.close()
        const equal = host.fired.length
        expect(compared.comparison?.counts).toEqual({ equal, added: 0, removed: 0, moved: 0 })
        expect(answer.coverage?.items).toMatchObject([{ fidelity: 'inputs', initialState: 'warm' }])
        const live = host.fired.map((event) => {
          const { time, node, source, why } = event as Extract<EngineEvent, { type: 'fired' }>
          return JSON.stringify({ time, resource: 'boiler', node, source, why })
        })
        const fired = answer.firings?.map((one) => JSON.stringify({ ...one, resource: 'boiler' }))
        expect(fired?.toSorted()).toEqual(live.toSorted())
      }),
      runs(100),
    )
  })
})
