/** Simulates stored queries that clients write, delete and run. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { BEGINNING } from '../world/virtual-loop.ts'
import type { World } from '../world/world.ts'
import { KnownThings, type KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const NAMES = ['week', 'shift'] as const
const RESOURCE = 'scale'
/** one sample per second, whose value is its index */
const SAMPLES = 20

export const storedQueries: SimulatedService = {
  name: 'queries',
  onlyWhenDrawn: true,
  cast: 0.15,
  needs: ['broker', 'queries'],
  asks: [
    'POST /resources/:id/events',
    'POST /config/query/:name',
    'PUT /config/query/:name',
    'GET /config/query/:name',
    'DELETE /config/query/:name',
    'GET /data/query/:name',
  ],
  operations: {
    create: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES), seconds: chance.between(1, SAMPLES) }) },
    replace: { weight: 4, draw: (chance) => ({ name: chance.of(NAMES), seconds: chance.between(1, SAMPLES) }) },
    remove: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES) }) },
    run: { weight: 5, draw: (chance) => ({ name: chance.of(NAMES) }) },
    look: { weight: 1, draw: (chance) => ({ name: chance.of(NAMES) }) },
  },
  model: (world) => new StoredQueries(world),
}

/** Number of seconds whose samples the query returns; null: the query does not exist. */
type State = number | null

type Known = KnownThing<State>

class StoredQueries implements ServiceModel {
  readonly #world: World
  readonly #known: KnownThings<State>

  constructor(world: World) {
    this.#world = world
    this.#known = new KnownThings<State>(world, 'stored queries are as the model says', null)
  }

  async prepare(tenant: string): Promise<void> {
    const url = `/resources/${RESOURCE}/events`
    const body = weights(SAMPLES).map((weight) => ({ weight, timestamp: BEGINNING + weight * 1000 }))
    await this.#world.look({ method: 'POST', url, tenant, body })
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { name: query, seconds = 0 } = given as { name: string; seconds?: number }
    const known = this.#known.of(tenant, query)
    const url = `/config/query/${query}`
    const body = { query: queryOf(seconds) }
    known.work(async () => {
      if (name === 'create')
        await known.ask(name, { method: 'POST', url, body }, (state) => (state === null ? seconds : undefined))
      else if (name === 'replace') await known.ask(name, { method: 'PUT', url, body }, () => seconds)
      else if (name === 'remove')
        await known.ask(name, { method: 'DELETE', url }, (state) => (state === null ? undefined : null))
      else if (name === 'run') await this.#run(known)
      else await this.#see(known)
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const known of this.#known.atRest(tenant)) {
      await this.#see(known)
      await this.#run(known)
    }
  }

  async #see(known: Known): Promise<void> {
    const { tenant, name } = known
    const { kind, answer } = await this.#world.ask({ method: 'GET', url: `/config/query/${name}`, tenant })
    const isAbsent = answer?.status === 404
    if (kind !== 'answered' && !isAbsent) return
    const text = isAbsent ? 'null' : queryIn(answer?.body)
    known.see(text, (state) => (state === null ? 'null' : JSON.stringify(queryOf(state))) === text)
  }

  /** Checks that the query returns all samples of its seconds. */
  async #run(known: Known): Promise<void> {
    const { tenant, name } = known
    const url = `/data/query/${name}?render=SERIES`
    const { kind, answer } = await this.#world.ask({ method: 'GET', url, tenant })
    const isAbsent = answer?.status === 404
    if (kind !== 'answered' && !isAbsent) return
    const text = isAbsent ? 'null' : `the values ${valuesOf(answer?.body).join()}`
    known.see(text, (state) => text === (state === null ? 'null' : `the values ${weights(state).join()}`))
  }
}

function queryIn(body: unknown): string {
  return JSON.stringify((body as { readonly query: JsonObject }).query)
}

/** Returns the values of the only series of a result. */
function valuesOf(body: unknown): readonly number[] {
  const [series] = (body as { data: readonly { data: readonly (readonly number[])[] }[] }).data
  return series?.data[1] ?? []
}

function weights(seconds: number): readonly number[] {
  return Array.from({ length: seconds }, (_, n) => n)
}

function queryOf(seconds: number): JsonObject {
  return { from: BEGINNING, until: BEGINNING + seconds * 1000, resource: RESOURCE, metric: 'weight' }
}
