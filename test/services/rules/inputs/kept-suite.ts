/** Tests what stored inputs guarantee on every store, against a plain list of the log's contents. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { ARRIVAL_TIME, LOG_NAME } from '../../../../src/log/message-entry.ts'
import { TenantLog } from '../../../../src/log/tenant-log.ts'
import type { Message } from '../../../../src/index.ts'
import type { Input } from '../../../../src/services/rules/durable/input.ts'
import type { InputRange, KeptInput } from '../../../../src/services/rules/inputs/contract.ts'
import { InputKeeper, type KeepLimits } from '../../../../src/services/rules/inputs/input-keeper.ts'
import type { Store } from '../../../../src/storage/contract.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { MemoryInputs } from './memory-inputs.ts'

const RESOURCES = ['a', 'b', '*', 'größe', '']
const TASKS = ['t1', 't2']
const UNLIMITED: KeepLimits = { ageMs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }
const DAY = 86_400_000

/** `usual`: number of random histories */
export function keptInputs(name: string, newStore: () => Promise<Store>, usual: number): void {
  describe(`kept inputs on ${name}`, () => {
    it('read as the log had them, whatever was flushed, merged, dropped, deleted or killed between', async () => {
      // Holds INPUTS-1, INPUTS-2, KEEPER-1, KEEPER-3
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 40 }),
          fc.array(range, { minLength: 1, maxLength: 5 }),
          async (steps, ranges) => {
            const life = new Life(await newStore())
            await life.start()
            for (const one of steps) await life.take(one)
            for (const one of [{ tasks: TASKS }, ...ranges]) {
              const { kept, expected, isDroppedEarly } = await life.read(one)
              expect(kept).toEqual(expected)
              expect(isDroppedEarly).toBe(false)
            }
            await life.keeper.stop()
          },
        ),
        runs(usual),
      )
    })
  })
}

type Step =
  | { readonly step: 'add'; readonly inputs: readonly NewBody[] }
  | { readonly step: 'round' | 'flush' | 'trim' | 'crash' | 'torn' | 'day' }
  | { readonly step: 'delete'; readonly resource: string }

interface NewBody {
  readonly later: number
  readonly body: (at: number) => Json
  /** Undefined: the entry is not stored as an input */
  readonly input: ((at: number) => Input) | undefined
}

const value = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.string(),
  fc.constant(null),
  fc.object({ maxDepth: 1 }),
)
const key = fc.constantFrom('temperature', 'x', 'y', 'constructor', '__proto__x', '7')
const message: fc.Arbitrary<(at: number) => Message> = fc
  .record({
    resource: fc.constantFrom(...RESOURCES),
    stamp: fc.constantFrom('none', 'age', 'text', 'half'),
    age: fc.integer({ min: -5_000, max: 5_000 }),
    values: fc.dictionary(key, value, { maxKeys: 3 }),
  })
  .map(({ resource, stamp, age, values }) => (at) => {
    const time = at - age
    const timestamp = stamp === 'text' ? new Date(time).toISOString() : stamp === 'half' ? time + 0.5 : time
    const plain = JSON.parse(JSON.stringify(values)) as object
    return { resource, ...(stamp !== 'none' && { timestamp }), ...plain }
  })

const sent = fc.record(
  {
    c: fc.constant('commands'),
    h: fc.integer({ min: 1, max: 3 }),
    u: fc.constant([0]),
    g: fc.constantFrom<readonly string[] | 'all'>(['x'], 'all'),
  },
  { requiredKeys: [] },
)

const data: fc.Arbitrary<NewBody> = fc
  .record({
    later: fc.integer({ min: 0, max: 2_000 }),
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    isAlone: fc.boolean(),
    isTaken: fc.boolean(),
    about: sent,
  })
  .map(({ later, messages, isAlone, isTaken, about }) => {
    const m = (at: number) => {
      const all = messages.map((one) => one(at))
      const [only] = all
      return isAlone && only !== undefined ? only : all
    }
    return {
      later,
      body: (at) =>
        ({ k: 'data', m: m(at), s: 'events', ...about, [isTaken ? 'at' : ARRIVAL_TIME]: at }) as unknown as Json,
      input: (at) => ({ k: 'data', at, m: m(at), ...about }),
    }
  })

const other: fc.Arbitrary<NewBody> = fc
  .record({
    later: fc.integer({ min: 0, max: 2_000 }),
    untimed: fc.constantFrom(
      { k: 'command', t: 't1', n: 'node', o: 'start' } as const,
      { k: 'answer', t: 't2', e: 1, x: 2, c: 3, o: { state: 'hot' } } as const,
      { k: 'resume', ts: ['t1'] } as const,
      { k: 'still', since: 7 } as const,
    ),
  })
  .map(({ later, untimed }) => ({
    later,
    body: (at) => ({ ...untimed, at }),
    input: (at) => ({ ...untimed, at }),
  }))

const unkept: fc.Arbitrary<NewBody> = fc.record({
  later: fc.constant(0),
  body: fc.constantFrom(
    () => ({ k: 'bulk', c: '[]' }),
    () => ({ k: 'data', m: { resource: 'a' }, s: 'events' }),
  ),
  input: fc.constant(undefined),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      step: fc.constant('add' as const),
      inputs: fc.array(fc.oneof({ weight: 5, arbitrary: data }, other, unkept), { minLength: 1, maxLength: 20 }),
    }),
  },
  { weight: 4, arbitrary: fc.constantFrom<Step>({ step: 'round' }, { step: 'flush' }, { step: 'trim' }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ step: 'crash' }, { step: 'torn' }, { step: 'day' }) },
  { weight: 1, arbitrary: fc.constantFrom(...RESOURCES).map((resource) => ({ step: 'delete' as const, resource })) },
)

const span = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: undefined })
const range: fc.Arbitrary<InputRange> = fc
  .record({
    from: span(60_000),
    until: span(60_000),
    after: span(60),
    upTo: span(200),
    resources: fc.option(fc.subarray(RESOURCES), { nil: undefined }),
    tasks: fc.option(fc.subarray(TASKS), { nil: undefined }),
  })
  .map((one) => Object.fromEntries(Object.entries(one).filter(([, limit]) => limit !== undefined)))

/** A tenant's log with its keeper, and a list of what was logged. */
class Life {
  keeper!: InputKeeper
  readonly #model = new MemoryInputs()
  readonly #store: Store
  #log!: TenantLog
  #now = 1_000
  #trimmed = 0
  /** Whether the next manifest is lost after its segment was written */
  #isTorn = false

  constructor(store: Store) {
    this.#store = store
  }

  async start(): Promise<void> {
    const store = new Proxy(this.#store, {
      get: (target, name) => {
        if (name === 'commit') return (...writes: Parameters<Store['commit']>) => this.#commit(...writes)
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    })
    const { last } = await this.#store.log(LOG_NAME).bounds()
    this.#log = new TenantLog(store)
    this.#log.attach({ apply: () => undefined, settled: () => undefined }, last)
    this.#log.pruner.tasks = () => this.#trimmed
    this.#log.pruner.followers = () => this.#log.position
    this.keeper = new InputKeeper({
      store,
      log: this.#log,
      limits: { ...UNLIMITED, ageMs: 3 * DAY },
      now: () => this.#now,
      sizes: { entries: 16, restMs: DAY },
    })
    await this.keeper.since()
  }

  async take(one: Step): Promise<void> {
    switch (one.step) {
      case 'add':
        for (const { later, body, input } of one.inputs) await this.#add(later, body, input)
        return
      case 'delete':
        await this.keeper.deleteResource(one.resource)
        return this.#delete(one.resource)
      case 'flush':
        return this.keeper.round(true)
      case 'round':
        return this.keeper.round()
      case 'day':
        this.#now += DAY
        return this.keeper.round()
      case 'trim':
        this.#trimmed = this.#log.position
        return this.#log.pruner.prune(false)
      case 'torn':
        this.#isTorn = true
        await this.keeper.round(true)
        this.#isTorn = false
        return this.start()
      case 'crash':
        return this.start()
    }
  }

  async read(range: InputRange) {
    const since = await this.keeper.since()
    const kept: KeptInput[] = []
    for await (const batch of this.keeper.read(range)) kept.push(...batch)
    const expected: KeptInput[] = []
    for await (const batch of this.#model.read(range)) expected.push(...batch)
    const first = since?.position ?? 0
    const newestDropped = this.#model.inputs.findLast(({ position }) => position < first)?.input.at ?? 0
    return {
      kept,
      expected: expected.filter(({ position }) => position >= first),
      isDroppedEarly: newestDropped > Math.max(0, this.#now - 3 * DAY),
    }
  }

  async #add(later: number, body: NewBody['body'], input: NewBody['input']): Promise<void> {
    this.#now += later
    const at = this.#now
    await this.#log.add({ entries: [{ body: body(at) }] })
    if (input !== undefined) this.#model.inputs.push({ position: this.#log.position, input: input(at) })
  }

  #delete(resource: string): void {
    const left = this.#model.inputs.flatMap((one): KeptInput[] => {
      const { input, position } = one
      if (input.k !== 'data') return [one]
      if (!Array.isArray(input.m)) return (input.m as Message).resource === resource ? [] : [one]
      const { u, ...rest } = input
      const m = (input.m as readonly Message[]).filter((message) => message.resource !== resource)
      const isFirstLeft = (input.m as readonly Message[])[0]?.resource !== resource
      return m.length === 0 ? [] : [{ position, input: { ...rest, m, ...(u !== undefined && isFirstLeft && { u }) } }]
    })
    this.#model.inputs.splice(0, this.#model.inputs.length, ...left)
  }

  #commit(...[writes]: Parameters<Store['commit']>): ReturnType<Store['commit']> {
    const isManifest = writes.some((write) => 'collection' in write && write.collection.name === 'rule_inputs')
    if (this.#isTorn && isManifest) return Promise.reject(new Error('the process was killed here'))
    return this.#store.commit(writes)
  }
}
