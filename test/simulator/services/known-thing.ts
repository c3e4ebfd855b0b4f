/**
 * A thing that clients change one after the other, and what they know of it. Who got no answer leaves it alone until
 * the host that may still do it is gone.
 */
import type { Question } from '../world/host-life.ts'
import type { Outcome, World } from '../world/world.ts'
import { Possible } from './possible.ts'

export interface Named {
  readonly oracle: string
  readonly tenant: string
  readonly name: string
}

/** Outcomes that say nothing of the thing: nobody was there, or too much was asked for. */
export function isNoAnswer({ kind, answer }: Outcome): boolean {
  return kind === 'refused' && (answer === undefined || answer.status === 429)
}

export class KnownThing<S> implements Named {
  readonly oracle: string
  readonly tenant: string
  readonly name: string
  readonly #world: World
  readonly #possible: Possible<S>
  /** in which life of the host something may still be done that was asked for; Infinity: in any */
  #openSince: number | undefined

  constructor(world: World, { oracle, tenant, name }: Named, state: S) {
    this.oracle = oracle
    this.tenant = tenant
    this.name = name
    this.#world = world
    this.#possible = new Possible(state)
  }

  /** The one state that is left; undefined: nobody can say. */
  get state(): S | undefined {
    return this.#possible.states.length === 1 ? this.#possible.states[0] : undefined
  }

  get states(): readonly S[] {
    return this.#possible.states
  }

  /** In the order of the calls. */
  work(work: () => Promise<void>): void {
    this.#world.work(`${this.oracle} ${this.tenant} ${this.name}`, async () => {
      if (this.#openSince === this.#world.life || this.#openSince === Infinity) return
      this.#openSince = undefined
      await work()
    })
  }

  /** All is at rest. */
  rest(): void {
    this.#openSince = undefined
  }

  /** What was asked for may be done at any time: nobody touches it again. */
  leave(): void {
    this.#openSince = Infinity
  }

  async ask(what: string, question: Omit<Question, 'tenant'>, act: (state: S) => S | undefined): Promise<Outcome> {
    const outcome = await this.#world.ask({ ...question, tenant: this.tenant })
    this.told(what, outcome, act)
    return outcome
  }

  /** `act` gives the state after it; undefined: it is refused. */
  told(what: string, outcome: Outcome, act: (state: S) => S | undefined): void {
    if (isNoAnswer(outcome)) return
    const before = JSON.stringify(this.states)
    if (outcome.kind === 'unknown') this.#openSince ??= this.#world.life
    if (this.#possible.change(outcome.kind, act)) return
    this.find(`${what} was ${outcome.kind}: ${JSON.stringify(outcome.answer)}; it was ${before}`)
  }

  /** What the host says that it is. */
  see(text: string, fits: (state: S) => boolean): void {
    const before = JSON.stringify(this.states)
    if (!this.#possible.see(fits)) this.find(`it is ${text}; right would be ${before}`)
  }

  find(text: string): void {
    this.#world.find(this.oracle, `${this.tenant} ${this.name}: ${text}`)
  }
}

/** Things of one kind, each from the moment on at which somebody asks for it. */
export class KnownThings<S> {
  readonly #world: World
  readonly #oracle: string
  readonly #first: S
  readonly #known = new Map<string, KnownThing<S>>()

  /** `first`: the state of each before anybody changes it. */
  constructor(world: World, oracle: string, first: S) {
    this.#world = world
    this.#oracle = oracle
    this.#first = first
  }

  of(tenant: string, name: string): KnownThing<S> {
    const key = `${tenant} ${name}`
    const found =
      this.#known.get(key) ?? new KnownThing(this.#world, { oracle: this.#oracle, tenant, name }, this.#first)
    this.#known.set(key, found)
    return found
  }

  /** Those of the tenant, one after the other, when all is at rest. */
  *atRest(tenant: string): Generator<KnownThing<S>> {
    for (const thing of this.#known.values()) {
      if (thing.tenant !== tenant) continue
      thing.rest()
      yield thing
    }
  }
}
