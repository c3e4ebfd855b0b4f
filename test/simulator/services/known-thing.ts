/**
 * Tracks a thing that clients change one after the other, and what they know about it. A client without a response
 * leaves the thing alone until the host that may still carry out the change is gone.
 */
import type { Question } from '../world/host-life.ts'
import type { Outcome, World } from '../world/world.ts'
import { Possible } from './possible.ts'

export interface Named {
  readonly oracle: string
  readonly tenant: string
  readonly name: string
}

/** Returns whether an outcome reveals nothing: the host was down, or refused too many requests. */
export function isNoAnswer({ kind, answer }: Outcome): boolean {
  return kind === 'refused' && (answer === undefined || answer.status === 429)
}

export class KnownThing<S> implements Named {
  readonly oracle: string
  readonly tenant: string
  readonly name: string
  readonly #world: World
  readonly #possible: Possible<S>
  /** the host life that may still carry out a request; Infinity: any life */
  #openSince: number | undefined

  constructor(world: World, { oracle, tenant, name }: Named, state: S) {
    this.oracle = oracle
    this.tenant = tenant
    this.name = name
    this.#world = world
    this.#possible = new Possible(state)
  }

  /** The only possible state; undefined: several are possible. */
  get state(): S | undefined {
    return this.#possible.states.length === 1 ? this.#possible.states[0] : undefined
  }

  get states(): readonly S[] {
    return this.#possible.states
  }

  /** Runs the work of clients in the order of the calls. */
  work(work: () => Promise<void>): void {
    this.#world.work(`${this.oracle} ${this.tenant} ${this.name}`, async () => {
      if (this.#openSince === this.#world.life || this.#openSince === Infinity) return
      this.#openSince = undefined
      await work()
    })
  }

  /** Called when everything is at rest. */
  rest(): void {
    this.#openSince = undefined
  }

  /** Marks the thing as unusable, because a request may be carried out at any time. */
  leave(): void {
    this.#openSince = Infinity
  }

  async ask(what: string, question: Omit<Question, 'tenant'>, act: (state: S) => S | undefined): Promise<Outcome> {
    const outcome = await this.#world.ask({ ...question, tenant: this.tenant })
    this.told(what, outcome, act)
    return outcome
  }

  /** `act` returns the state after the change; undefined: the change is refused. */
  told(what: string, outcome: Outcome, act: (state: S) => S | undefined): void {
    if (isNoAnswer(outcome)) return
    const before = JSON.stringify(this.states)
    if (outcome.kind === 'unknown') this.#openSince ??= this.#world.life
    if (this.#possible.change(outcome.kind, act)) return
    this.find(`${what} was ${outcome.kind}: ${JSON.stringify(outcome.answer)}; it was ${before}`)
  }

  /** Compares what the host reports with the possible states. */
  see(text: string, fits: (state: S) => boolean): void {
    const before = JSON.stringify(this.states)
    if (!this.#possible.see(fits)) this.find(`it is ${text}; right would be ${before}`)
  }

  find(text: string): void {
    this.#world.find(this.oracle, `${this.tenant} ${this.name}: ${text}`)
  }
}

/** Stores things of one kind, each created when a client first uses it. */
export class KnownThings<S> {
  readonly #world: World
  readonly #oracle: string
  readonly #first: S
  readonly #known = new Map<string, KnownThing<S>>()

  /** `first`: the state of each thing before any change. */
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

  /** Yields the tenant's things, one after the other, when everything is at rest. */
  *atRest(tenant: string): Generator<KnownThing<S>> {
    for (const thing of this.#known.values()) {
      if (thing.tenant !== tenant) continue
      thing.rest()
      yield thing
    }
  }
}
