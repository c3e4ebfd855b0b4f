/** Simulates clients that raise, change, clear and delete alarms, one at a time and in batches. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { World } from '../world/world.ts'
import { KnownThings, type KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const SOURCES = ['roof', 'cellar'] as const
const TYPES = ['HEAT', 'SMOKE'] as const
/** seconds that a batch may take */
const LOOKS = 200
const SEVERITIES = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] as const

export const alarms: SimulatedService = {
  name: 'alarms',
  needs: ['alarms'],
  asks: [
    'GET /alarm/alarms',
    'POST /alarm/alarms',
    'PUT /alarm/alarms/:id',
    'DELETE /alarm/alarms/:id',
    'POST /batch',
    'GET /batch/:id',
  ],
  operations: {
    raise: { weight: 5, draw: (chance) => ({ ...place(chance), severity: chance.of(SEVERITIES) }) },
    raiseAtOnce: { weight: 2, draw: (chance) => ({ ...place(chance), severity: chance.of(SEVERITIES) }) },
    change: {
      weight: 5,
      draw: (chance) => ({
        ...place(chance),
        change: chance.of<JsonObject>([
          { status: 'ACKNOWLEDGED' },
          { status: 'ACTIVE' },
          { status: 'CLEARED' },
          { severity: chance.of(SEVERITIES) },
        ]),
      }),
    },
    remove: { weight: 1, draw: (chance) => place(chance) },
    batch: {
      weight: 3,
      draw: (chance) => ({
        ...place(chance),
        action: chance.of(['update', 'delete']),
        status: chance.of(['ACKNOWLEDGED', 'CLEARED']),
      }),
    },
    look: { weight: 3, draw: (chance) => place(chance) },
  },
  model: (world) => new Alarms(world),
}

function place(chance: { of<T>(list: readonly T[]): T }): { source: string; type: string } {
  return { source: chance.of(SOURCES), type: chance.of(TYPES) }
}

interface AlarmState {
  readonly status: string
  readonly severity: string
  readonly count: number
}

/** The alarms of one source and type, oldest first. */
type State = readonly AlarmState[]

type Key = KnownThing<State>

interface Shown extends AlarmState {
  readonly id: string
}

interface Given {
  readonly source: string
  readonly type: string
  readonly severity: string
  readonly change: Partial<AlarmState>
  readonly action: 'update' | 'delete'
  readonly status: string
}

class Alarms implements ServiceModel {
  readonly #world: World
  readonly #keys: KnownThings<State>

  constructor(world: World) {
    this.#world = world
    this.#keys = new KnownThings<State>(world, 'alarms are as the model says', [])
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { source, type } = given as unknown as Given
    const key = this.#keys.of(tenant, `${source} ${type}`)
    key.work(async () => {
      if (name === 'raise') await this.#raise(key, given as unknown as Given)
      else if (name === 'raiseAtOnce') await this.#raise(key, given as unknown as Given, 3)
      else if (name === 'batch') await this.#batch(key, given as unknown as Given)
      else await this.#onNewest(name, key, given as unknown as Given)
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const key of this.#keys.atRest(tenant)) await this.#see(key)
  }

  /** `times`: number of clients that raise it at once. */
  async #raise(key: Key, { severity }: Given, times = 1): Promise<void> {
    const { tenant } = key
    const { source, type } = partsOf(key)
    const body = { type, text: 'x', severity, source: { id: source } }
    const ask = () => this.#world.ask({ method: 'POST', url: '/alarm/alarms', tenant, body })
    for (const outcome of await Promise.all(Array.from({ length: times }, ask))) {
      key.told('a raise', outcome, (state) => {
        const open = state.findIndex(({ status }) => status !== 'CLEARED')
        if (open < 0) return [...state, { status: 'ACTIVE', severity, count: 1 }]
        return state.map((one, i) => (i === open ? { ...one, count: one.count + 1 } : one))
      })
    }
  }

  /** Looks up the newest alarm first, as people do. */
  async #onNewest(name: string, key: Key, { change }: Given): Promise<void> {
    const newest = (await this.#see(key))?.at(-1)
    if (newest === undefined || name === 'look') return
    const { tenant } = key
    const url = `/alarm/alarms/${newest.id}`
    if (name === 'remove') {
      const outcome = await this.#world.ask({ method: 'DELETE', url, tenant })
      key.told('a removal', outcome, (state) => without(state, newest))
      return
    }
    const outcome = await this.#world.ask({ method: 'PUT', url, tenant, body: change })
    key.told(`the change ${JSON.stringify(change)}`, outcome, (state) => changed(state, change))
  }

  async #batch(key: Key, { action, status }: Given): Promise<void> {
    const { tenant } = key
    const world = this.#world
    const parameters = action === 'update' && { actionParameters: { status } }
    const body = { entity: 'alarm', action, query: partsOf(key), ...parameters }
    const queued = await world.ask({ method: 'POST', url: '/batch', tenant, body })
    const act = (state: State): State =>
      action === 'delete' ? [] : state.map((one) => (one.status === 'CLEARED' ? one : { ...one, status }))
    if (queued.kind !== 'answered') {
      key.told('a batch', queued, act)
      // the host may have accepted it, and may carry it out in any life, unexpectedly
      if (queued.kind === 'unknown') key.leave()
      return
    }
    const { id } = (queued.answer.body as { entity: { id: string } }).entity
    for (let looks = 0; looks < LOOKS;) {
      await world.pause(1000)
      const looked = await world.ask({ method: 'GET', url: `/batch/${id}`, tenant })
      // a host that is down makes no progress either
      if (looked.answer !== undefined) looks++
      if (looked.kind !== 'answered') continue
      const { finishedTime, results = {} } = looked.answer.body as { finishedTime?: unknown; results?: unknown }
      if (finishedTime === undefined) continue
      if (/"statusCode":50\d/.test(JSON.stringify(results)))
        world.find('what was taken is done', `batch ${id}: ${JSON.stringify(results)}`)
      return key.told('a batch', queued, act)
    }
    world.find('what was taken is done', `batch ${id} of ${tenant} ${key.name} does not come to its end`)
  }

  async #see(key: Key): Promise<readonly Shown[] | undefined> {
    const { tenant } = key
    const { source, type } = partsOf(key)
    const url = `/alarm/alarms?source=${source}&type=${type}&size=1000`
    const outcome = await this.#world.ask({ method: 'GET', url, tenant })
    if (outcome.kind !== 'answered') return undefined
    const { alarms } = outcome.answer.body as { alarms: readonly (Shown & { creationTime: string })[] }
    const seen = alarms.map(({ status, severity, count }) => JSON.stringify({ status, severity, count })).sort()
    const fits = (state: State): boolean =>
      JSON.stringify(state.map((one) => JSON.stringify(one)).sort()) === JSON.stringify(seen)
    key.see(seen.join(', '), fits)
    // the open alarm counts as the newest
    return [...alarms].sort((a, b) => Number(a.status !== 'CLEARED') - Number(b.status !== 'CLEARED'))
  }
}

/** Splits the name of a key into source and type. */
function partsOf({ name }: Key): { readonly source: string; readonly type: string } {
  const [source = '', type = ''] = name.split(' ')
  return { source, type }
}

function without(state: State, { status, severity, count }: AlarmState): State {
  const at = state.findIndex((one) => one.status === status && one.severity === severity && one.count === count)
  return state.filter((_one, i) => i !== at)
}

/** Returns the changed state, or undefined when no alarm is open: cleared alarms do not change. */
function changed(state: State, change: Partial<AlarmState>): State | undefined {
  const open = state.findIndex(({ status }) => status !== 'CLEARED')
  if (open < 0) return undefined
  return state.map((one, i) => (i === open ? { ...one, ...change } : one))
}
