/** Simulates API keys that operators create, replace and remove outside the host, while clients use them. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import type { Outcome, World } from '../world/world.ts'
import { KnownThing } from './known-thing.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

/** shared by all tenants: a key belongs to one tenant after the other */
const NAMES = ['gate', 'door'] as const
/** reveals the owner of a key: each tenant has one of these, with its name */
const MARK = 'mark'
/** ms for which a check may remain valid if the host received no notice: a minute of the host's clock */
const REMEMBERED_MS = 60_000 / 0.9
/** ms after which a change that the host was notified of takes effect */
const HEARD_MS = 1000
/** whether notices of key changes reach the host */
const VARIANTS = ['heard', 'lost'] as const

export const keys: SimulatedService = {
  name: 'keys',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.12,
  needs: ['resources'],
  asks: ['POST /api/resources', 'GET /api/resources/:id'],
  operations: {
    make: { weight: 3, draw: (chance) => ({ key: chance.of(NAMES), isHeard: chance.is(0.6) }) },
    remove: { weight: 3, draw: (chance) => ({ key: chance.of(NAMES), isHeard: chance.is(0.6) }) },
    use: { weight: 8, draw: (chance) => ({ key: chance.of(NAMES), age: chance.of([0, 0, 0, 1, 2]) }) },
  },
  variants: VARIANTS,
  model: (world, _shared, variants) => new Keys(world, variants),
}

/** The key's owner and valid secret; null: the key does not exist. */
type State = { readonly tenant: string; readonly secret: number } | null

/** The possible states of a key from a time on. */
interface Since {
  /** ms */
  readonly at: number
  /** the life of the host at that time */
  readonly life: number
  readonly states: readonly State[]
}

interface Known {
  readonly thing: KnownThing<State>
  /** oldest first */
  readonly history: Since[]
  /** time and host life of the last change that the host was notified of */
  heard: { readonly at: number; readonly life: number }
  /** number of secrets chosen for the key so far */
  secrets: number
}

class Keys implements ServiceModel {
  readonly #world: World
  readonly #known = new Map<string, Known>()
  /** returns whether this run has notices that arrive, or that get lost */
  readonly #isOneOf: (isHeard: boolean) => boolean

  constructor(world: World, variants: readonly string[]) {
    this.#world = world
    this.#isOneOf = (isHeard) => variants.includes(isHeard ? 'heard' : 'lost')
  }

  async prepare(tenant: string): Promise<void> {
    const body = { id: MARK, owner: tenant }
    await this.#world.look({ method: 'POST', url: '/api/resources', tenant, body })
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const { key, age = 0, isHeard = false } = given as { key: string; age?: number; isHeard?: boolean }
    const hears = this.#isOneOf(isHeard) ? isHeard : !isHeard
    const known = this.#of(key)
    if (name === 'use') {
      this.#world.work(
        `use ${this.#world.now} ${tenant} ${key}`,
        async () => void (await this.#use(known, known.secrets - age)),
      )
    } else if (name === 'make') {
      known.thing.work(() => this.#change(known, { tenant, secret: ++known.secrets }, hears))
    } else known.thing.work(() => this.#change(known, null, hears))
  }

  async verify(tenant: string): Promise<void> {
    for (const key of NAMES) {
      const known = this.#of(key)
      const { thing, secrets } = known
      thing.rest()
      // tries the possible secrets, the one before them, and one that was never issued
      const possible = thing.states.flatMap((state) => state?.secret ?? [])
      for (const secret of new Set([...possible, Math.min(secrets, ...possible) - 1, secrets, secrets + 1])) {
        const { kind, answer } = await this.#use(known, secret)
        if (kind === 'answered') thing.see(`open to ${secret}`, (state) => state?.secret === secret)
        else if (answer?.status === 401) thing.see(`not open to ${secret}`, (state) => state?.secret !== secret)
        else thing.find(`nobody says whether ${secret} opens it: ${kind} ${JSON.stringify(answer)}`)
      }
    }
    await this.#verifyList(tenant)
  }

  #of(name: string): Known {
    const found = this.#known.get(name)
    if (found !== undefined) return found
    const named = { oracle: 'keys are as the model says', tenant: 'any', name }
    const thing = new KnownThing<State>(this.#world, named, null)
    const since = { at: 0, life: this.#world.life, states: [null] }
    const known = { thing, history: [since], heard: { at: 0, life: 0 }, secrets: 0 }
    this.#known.set(name, known)
    return known
  }

  /** Changes a key as `reflexarc keys` does. `isHeard` false: the notice to the host gets lost. */
  async #change(known: Known, after: State, isHeard: boolean): Promise<void> {
    const { thing } = known
    const world = this.#world
    const { name: key, states } = thing
    const { life } = world
    this.#note(known, [...states, after])
    const text = after === null ? `removes ${key}` : `makes ${key} of ${after.tenant} with ${after.secret}`
    const outcome = await world.changeKeys(text, async (pairs) => {
      if (after === null && !(await pairs.remove(key))) return false
      if (after !== null) await pairs.add({ key, secret: secretOf(after.secret), tenant: after.tenant })
      if (isHeard) await world.tellKeyChange()
      return true
    })
    thing.told(text, outcome, (state) => (after === null && state === null ? undefined : after))
    if (outcome.kind === 'answered' && isHeard && life === world.life) known.heard = { at: world.now, life }
    this.#note(known, thing.states)
  }

  #note({ history }: Known, states: readonly State[]): void {
    const { now: at, life } = this.#world
    history.push({ at, life, states })
  }

  async #use(known: Known, secret: number): Promise<Outcome> {
    const { thing } = known
    const { now: from, life } = this.#world
    const headers = { authorization: `Basic ${btoa(`${thing.name}:${secretOf(secret)}`)}` }
    const url = `/api/resources/${MARK}`
    const outcome = await this.#world.ask({ method: 'GET', url, tenant: `key ${thing.name}`, headers })
    const { kind, answer } = outcome
    if (kind === 'answered') {
      const { owner } = answer.body as { owner: string }
      const since = this.#countsSince(known, from, life)
      if (!statesWithin(known, since).some((state) => state?.secret === secret && state.tenant === owner))
        thing.find(`${secret} opened ${owner} at ${from}; it could be ${JSON.stringify(statesWithin(known, since))}`)
    } else if (answer?.status === 401) {
      const open = statesWithin(known, from)
      if (open.every((state) => state?.secret === secret)) thing.find(`${secret} was refused at ${from}, and opens it`)
    } else if (answer?.status === 404) thing.find(`${secret} opened a tenant without a name`)
    return outcome
  }

  /** Returns the earliest time of a check that may still be valid at `at` in that life. */
  #countsSince({ history, heard }: Known, at: number, life: number): number {
    const inLivesBefore = history.findLast((since) => since.life < life)?.at ?? 0
    const beforeHeard = heard.life === life && heard.at + HEARD_MS <= at ? heard.at : 0
    return Math.max(at - REMEMBERED_MS, inLivesBefore, beforeHeard)
  }

  async #verifyList(tenant: string): Promise<void> {
    const right = [...this.#known.values()].flatMap(({ thing }) => (thing.state?.tenant === tenant ? [thing.name] : []))
    let listed: readonly string[] = []
    await this.#world.changeKeys(`lists keys of ${tenant}`, async (pairs) => {
      listed = (await pairs.list(tenant)).map(({ key }) => key)
      return true
    })
    const wanted = [tenant, ...right].toSorted().join()
    if (listed.toSorted().join() !== wanted)
      this.#world.find('keys are as the model says', `${tenant} has ${listed.join()}; right would be ${wanted}`)
  }
}

function secretOf(number: number): string {
  return `secret ${number}`
}

/** Returns the states that the key may have had at any time since `from`. */
function statesWithin({ history }: Known, from: number): readonly State[] {
  const first = history.findLastIndex(({ at }) => at <= from)
  return history.slice(Math.max(0, first)).flatMap(({ states }) => states)
}
