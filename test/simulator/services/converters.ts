/** Simulates clients that write and delete converters, and payloads that converters turn into messages or reject. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { BEGINNING } from '../world/virtual-loop.ts'
import type { World } from '../world/world.ts'
import { KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

const NAMES = ['lora', 'modbus'] as const

export const converters: SimulatedService = {
  name: 'converters',
  onlyWhenDrawn: true,
  cast: 0.15,
  needs: ['broker', 'resources', 'converter'],
  asks: [
    'PUT /converter/:name',
    'GET /converter/:name',
    'DELETE /converter/:name',
    'POST /converter/:name/ingest',
    'GET /converter/:name/rejected',
    'GET /resources/:id/series/:metric/raw',
  ],
  operations: {
    put: { weight: 3, draw: (chance, n) => ({ name: chance.of(NAMES), n }) },
    remove: { weight: 1, draw: (chance) => ({ name: chance.of(NAMES) }) },
    look: { weight: 1, draw: (chance) => ({ name: chance.of(NAMES) }) },
    ingest: { weight: 6, draw: (chance, n) => ({ name: chance.of(NAMES), n, hasKey: chance.is(0.5) }) },
    ingestWrong: { weight: 2, draw: (chance) => ({ name: chance.of(NAMES) }) },
  },
  model: (world) => new Converters(world),
}

/** Version of the existing converter; null: none exists. */
type State = number | null

/** A payload that a converter can turn into a message. */
interface Payload {
  readonly n: number
  /** converter versions that may have converted it */
  readonly by: ReadonlySet<number>
  /** false: unknown whether the host accepted it */
  readonly isCertain: boolean
}

interface Known {
  readonly thing: KnownThing<State>
  readonly payloads: Payload[]
  /** counts of unreadable payloads: those accepted, and those possibly accepted */
  rejected: number
  mayBeRejected: number
}

class Converters implements ServiceModel {
  readonly #world: World
  readonly #known = new Map<string, Known>()

  constructor(world: World) {
    this.#world = world
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { name: converter, n = 0, hasKey } = given as { name: string; n?: number; hasKey?: boolean }
    const known = this.#of(tenant, converter)
    const { thing } = known
    const url = `/converter/${converter}`
    thing.work(async () => {
      if (name === 'put') await thing.ask(name, { method: 'PUT', url, body: versionOf(converter, n) }, () => n)
      else if (name === 'remove')
        await thing.ask(name, { method: 'DELETE', url }, (state) => (state === null ? undefined : null))
      else if (name === 'look') await this.#see(thing)
      else if (name === 'ingest') await this.#ingest(known, n, hasKey === true)
      else await this.#ingestWrong(known)
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const known of this.#known.values()) {
      if (known.thing.tenant !== tenant) continue
      known.thing.rest()
      await this.#see(known.thing)
      await this.#verifyMessages(known)
      await this.#verifyRejected(known)
    }
  }

  #of(tenant: string, name: string): Known {
    const key = `${tenant} ${name}`
    const found = this.#known.get(key)
    if (found !== undefined) return found
    const thing = new KnownThing<State>(this.#world, { oracle: 'converters are as the model says', tenant, name }, null)
    const known = { thing, payloads: [], rejected: 0, mayBeRejected: 0 }
    this.#known.set(key, known)
    return known
  }

  async #ingest({ thing, payloads }: Known, n: number, hasKey: boolean): Promise<void> {
    const by = new Set(thing.states.filter((state) => state !== null))
    const headers = hasKey ? { headers: { 'idempotency-key': `payload ${n}` } } : {}
    const question = { method: 'POST', url: `/converter/${thing.name}/ingest`, body: { n }, ...headers } as const
    let { kind } = await thing.ask('ingest', question, ifThere)
    // with a key, the payload may be sent again
    const most = hasKey ? 2 : 0
    for (let tries = 0; kind !== 'refused' && tries < most; tries++) {
      const again = await thing.ask('ingest', question, ifThere)
      if (again.kind === 'answered') kind = 'answered'
      if (kind === 'unknown') await this.#world.pause(2000)
    }
    if (kind !== 'refused') payloads.push({ n, by, isCertain: kind === 'answered' })
  }

  async #ingestWrong(known: Known): Promise<void> {
    const { thing } = known
    const url = `/converter/${thing.name}/ingest`
    const { kind, answer } = await thing.ask('ingest', { method: 'POST', url, body: { m: 1 } }, ifThere)
    if (kind === 'answered' && answer?.status !== 202) thing.find(`a payload without n was taken: ${answer?.status}`)
    if (kind === 'answered') known.rejected++
    if (kind !== 'refused') known.mayBeRejected++
  }

  async #see(thing: KnownThing<State>): Promise<void> {
    const { tenant, name } = thing
    const { kind, answer } = await this.#world.ask({ method: 'GET', url: `/converter/${name}`, tenant })
    const isAbsent = answer?.status === 404
    if (kind !== 'answered' && !isAbsent) return
    const text = isAbsent ? 'null' : templateIn(answer?.body)
    thing.see(text, (state) => (state === null ? 'null' : versionOf(name, state)['template']) === text)
  }

  /** Checks that each accepted payload became a message, by a converter version that existed at that time. */
  async #verifyMessages({ thing, payloads }: Known): Promise<void> {
    const { tenant, name } = thing
    const valuesOf = async (metric: string): Promise<ReadonlyMap<number, number>> => {
      const url = `/resources/from-${name}/series/${metric}/raw?from=0&until=4000000000000&limit=2000`
      const { body } = await this.#world.look({ method: 'GET', url, tenant })
      const { series = [] } = body as { series?: readonly (readonly [number, number])[] }
      return new Map(series.map(([time, value]) => [(time - BEGINNING) / 1000, value]))
    }
    const [values, versions] = [await valuesOf('n'), await valuesOf('by')]
    for (const { n, by, isCertain } of payloads) {
      if (isCertain && values.get(n) !== n) thing.find(`payload ${n} was taken, and is no message`)
      const version = versions.get(n)
      if (version !== undefined && !by.has(version))
        thing.find(`payload ${n} was converted by ${version}; right would be ${[...by].join(', ')}`)
    }
    const sent = new Set(payloads.map(({ n }) => n))
    for (const n of values.keys()) if (!sent.has(n)) thing.find(`payload ${n} was refused, and is a message`)
  }

  async #verifyRejected({ thing, rejected, mayBeRejected }: Known): Promise<void> {
    const { tenant, name } = thing
    const { body } = await this.#world.look({ method: 'GET', url: `/converter/${name}/rejected`, tenant })
    const { total = 0 } = body as { total?: number }
    if (total < rejected || total > mayBeRejected)
      thing.find(`${total} payloads are among the rejected; from ${rejected} to ${mayBeRejected} would be right`)
  }
}

function templateIn(body: unknown): string {
  return (body as { readonly template: string }).template
}

function ifThere(state: State): State | undefined {
  return state === null ? undefined : state
}

function versionOf(name: string, version: number): JsonObject {
  const timestamp = `#set($seconds = $payload.n * 1000)#set($time = $seconds + ${BEGINNING})$time`
  const template = `{"metrics":[{"resource":"from-${name}","n":$payload.n,"by":${version},"timestamp":${timestamp}}]}`
  return { type: 'velocity', template }
}
