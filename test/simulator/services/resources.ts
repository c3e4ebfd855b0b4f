/** Resources that clients make, change and delete, and the tasks that follow the types of some of them. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Outcome, World } from '../world/world.ts'
import { Possible } from './possible.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const IDS = ['fan', 'lamp', 'lock'] as const

export const resources: SimulatedService = {
  name: 'resources',
  needs: ['rules', 'resources'],
  operations: {
    put: {
      weight: 3,
      draw: (chance, n) => ({ id: chance.of(IDS), value: { a: n, ...(chance.is(0.5) && { b: n }), ...typed(chance) } }),
    },
    patch: {
      weight: 4,
      draw: (chance, n) => ({
        id: chance.of(IDS),
        change: chance.of<JsonObject>([{ a: n }, { b: n }, { b: null }, typed(chance)]),
      }),
    },
    patchAtOnce: { weight: 3, draw: (chance, n) => ({ id: chance.of(IDS), change: { a: n, b: n, c: n } }) },
    create: { weight: 2, draw: (chance, n) => ({ id: chance.of(IDS), value: { a: n, ...typed(chance) } }) },
    remove: { weight: 2, draw: (chance) => ({ id: chance.of(IDS) }) },
    look: { weight: 2, draw: (chance) => ({ id: chance.of(IDS) }) },
  },
  model: (world) => new Resources(world),
}

/** Half of them have a type whose resources have a task each. */
function typed(chance: { is(probability: number): boolean }): JsonObject {
  return { resourceTypeId: chance.is(0.5) ? 'managed' : 'plain' }
}

type State = Readonly<Record<string, unknown>> | null

interface Known {
  readonly tenant: string
  readonly id: string
  readonly possible: Possible<State>
  openSince: number | undefined
}

class Resources implements ServiceModel {
  readonly #world: World
  readonly #known = new Map<string, Known>()

  constructor(world: World) {
    this.#world = world
  }

  async prepare(tenant: string): Promise<void> {
    const ask = (url: string, body: JsonObject) => this.#world.ask({ method: 'POST', url, tenant, body })
    await ask('/api/templates', { name: 'silent', sensors: [{ label: 'any', name: 'stream', resource: '$' }] })
    await ask('/api/resourcetypes', { id: 'managed', templates: [{ templateName: 'silent', type: 'reactive' }] })
    await ask('/api/resourcetypes', { id: 'plain' })
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { id, value = {}, change = {} } = given as { id: string; value?: JsonObject; change?: JsonObject }
    const key = `${tenant} ${id}`
    const known = this.#known.get(key) ?? { tenant, id, possible: new Possible<State>(null), openSince: undefined }
    this.#known.set(key, known)
    const url = `/api/resources/${id}`
    const world = this.#world
    world.work(`resource ${key}`, async () => {
      if (known.openSince === world.life) return
      known.openSince = undefined
      if (name === 'look') return this.#see(known)
      if (name === 'put')
        this.#told(known, await world.ask({ method: 'PUT', url, tenant, body: value }), name, () => value)
      else if (name === 'patchAtOnce') await this.#patchAtOnce(known, url, change)
      else if (name === 'create') {
        const outcome = await world.ask({ method: 'POST', url: '/api/resources', tenant, body: { id, ...value } })
        this.#told(known, outcome, name, (state) => (state === null ? value : undefined))
      } else if (name === 'patch') {
        const outcome = await world.ask({ method: 'PATCH', url, tenant, body: change })
        this.#told(known, outcome, name, (state) => withoutNulls({ ...state, ...change }))
      } else {
        this.#told(known, await world.ask({ method: 'DELETE', url, tenant }), name, (state) =>
          state === null ? undefined : null,
        )
      }
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const known of this.#known.values()) {
      if (known.tenant !== tenant) continue
      known.openSince = undefined
      await this.#see(known)
      await this.#verifyTasks(known)
    }
  }

  /** Each of its fields by another client. */
  async #patchAtOnce(known: Known, url: string, change: JsonObject): Promise<void> {
    const { tenant } = known
    const parts = Object.entries(change).map(([name, value]) => ({ [name]: value }))
    const outcomes = await Promise.all(parts.map((body) => this.#world.ask({ method: 'PATCH', url, tenant, body })))
    for (const [i, outcome] of outcomes.entries())
      this.#told(known, outcome, 'patch', (state) => ({ ...state, ...parts[i] }))
  }

  #told(known: Known, outcome: Outcome, what: string, act: (state: State) => State | undefined): void {
    if (outcome.kind === 'refused' && (outcome.answer === undefined || outcome.answer.status === 429)) return
    const before = JSON.stringify(known.possible.states)
    if (outcome.kind === 'unknown') known.openSince = this.#world.life
    if (known.possible.change(outcome.kind, act)) return
    const text = `${what} of ${known.tenant} ${known.id} was ${outcome.kind}: ${JSON.stringify(outcome.answer)}; it was ${before}`
    this.#world.find('resources are as the model says', text)
  }

  async #see({ tenant, id, possible }: Known): Promise<void> {
    const outcome = await this.#world.ask({ method: 'GET', url: `/api/resources/${id}?denormalized=false`, tenant })
    const isAbsent = outcome.answer?.status === 404
    if (outcome.kind !== 'answered' && !isAbsent) return
    const { id: _id, ...seen } = (outcome as { answer: { body: Record<string, unknown> } }).answer.body
    const before = JSON.stringify(possible.states)
    const text = isAbsent ? 'null' : sorted(seen)
    if (possible.see((state) => (state === null ? 'null' : sorted(state)) === text)) return
    this.#world.find('resources are as the model says', `${tenant} ${id} is ${text}; right would be ${before}`)
  }

  /** One task of each template of its type, and no other. */
  async #verifyTasks({ tenant, id, possible }: Known): Promise<void> {
    const [state] = possible.states
    if (state === undefined || possible.states.length > 1) return
    const answer = await this.#world.look({ method: 'GET', url: `/api/tasks?resource=${id}&hits=1000`, tenant })
    const tasks = answer.body as readonly { ID: string; status: string }[]
    const wanted = state?.['resourceTypeId'] === 'managed' ? 1 : 0
    if (tasks.length !== wanted || tasks.some(({ status }) => status !== 'running')) {
      const shown = JSON.stringify(tasks.map(({ ID, status }) => ({ ID, status })))
      this.#world.find('managed tasks follow', `${tenant} ${id} is ${JSON.stringify(state)} and has tasks ${shown}`)
    }
  }
}

function withoutNulls(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
}

function sorted(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))))
}
