/** Simulates clients that create, change and delete resources, and the tasks that come with the types of some. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { World } from '../world/world.ts'
import { KnownThings, type KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const IDS = ['fan', 'lamp', 'lock'] as const

export const resources: SimulatedService = {
  name: 'resources',
  needs: ['rules', 'resources'],
  asks: [
    'POST /api/templates',
    'POST /api/resourcetypes',
    'GET /api/tasks',
    'GET /api/resources/:id',
    'POST /api/resources',
    'PUT /api/resources/:id',
    'PATCH /api/resources/:id',
    'DELETE /api/resources/:id',
  ],
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

/** Draws a type; resources of one of the two types have a task each. */
function typed(chance: { is(probability: number): boolean }): JsonObject {
  return { resourceTypeId: chance.is(0.5) ? 'managed' : 'plain' }
}

type State = Readonly<Record<string, unknown>> | null

type Known = KnownThing<State>

class Resources implements ServiceModel {
  readonly #world: World
  readonly #known: KnownThings<State>

  constructor(world: World) {
    this.#world = world
    this.#known = new KnownThings<State>(world, 'resources are as the model says', null)
  }

  async prepare(tenant: string): Promise<void> {
    const ask = (url: string, body: JsonObject) => this.#world.ask({ method: 'POST', url, tenant, body })
    await ask('/api/templates', { name: 'silent', sensors: [{ label: 'any', name: 'stream', resource: '$' }] })
    await ask('/api/resourcetypes', { id: 'managed', templates: [{ templateName: 'silent', type: 'reactive' }] })
    await ask('/api/resourcetypes', { id: 'plain' })
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { id, value = {}, change = {} } = given as { id: string; value?: JsonObject; change?: JsonObject }
    const known = this.#known.of(tenant, id)
    const url = `/api/resources/${id}`
    known.work(async () => {
      if (name === 'look') await this.#see(known)
      else if (name === 'patchAtOnce') await this.#patchAtOnce(known, url, change)
      else if (name === 'put') await known.ask(name, { method: 'PUT', url, body: value }, () => value)
      else if (name === 'create') {
        const question = { method: 'POST', url: '/api/resources', body: { id, ...value } } as const
        await known.ask(name, question, (state) => (state === null ? value : undefined))
      } else if (name === 'patch') {
        const question = { method: 'PATCH', url, body: change } as const
        await known.ask(name, question, (state) => withoutNulls({ ...state, ...change }))
      } else await known.ask(name, { method: 'DELETE', url }, (state) => (state === null ? undefined : null))
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const known of this.#known.atRest(tenant)) {
      await this.#see(known)
      await this.#verifyTasks(known)
    }
  }

  /** Lets a separate client change each field. */
  async #patchAtOnce(known: Known, url: string, change: JsonObject): Promise<void> {
    const parts = Object.entries(change).map(([name, value]) => ({ [name]: value }))
    await Promise.all(
      parts.map((body) => known.ask('patch', { method: 'PATCH', url, body }, (state) => ({ ...state, ...body }))),
    )
  }

  async #see(known: Known): Promise<void> {
    const { tenant, name: id } = known
    const outcome = await this.#world.ask({ method: 'GET', url: `/api/resources/${id}?denormalized=false`, tenant })
    const isAbsent = outcome.answer?.status === 404
    if (outcome.kind !== 'answered' && !isAbsent) return
    const { id: _id, ...seen } = (outcome as { answer: { body: Record<string, unknown> } }).answer.body
    const text = isAbsent ? 'null' : sorted(seen)
    known.see(text, (state) => (state === null ? 'null' : sorted(state)) === text)
  }

  /** Checks that the resource has one task per template of its type, and no other. */
  async #verifyTasks({ tenant, name: id, state }: Known): Promise<void> {
    if (state === undefined) return
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
