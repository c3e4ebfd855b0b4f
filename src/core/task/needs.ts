/** Finds the smallest sets of sensor states that would bring a sensor or gate into a wanted state. */
import { FALSE, TRUE, UNKNOWN, type GateNode, type ObservableNode, type SensorNode } from '../graph/graph.ts'
import { nodesBehind } from '../graph/behind.ts'
import { decide, decideCount, type HasState } from '../graph/relations.ts'

export interface Need {
  readonly sensor: SensorNode
  readonly state: number
}

/** Sensor states that must hold together, including current ones. */
type Candidate = ReadonlyMap<SensorNode, number>

const MAX_CANDIDATES = 32
const MAX_TRIES = 20_000

/**
 * Returns the smallest changes after which `source` is certainly in one of the `wanted` states, by sensor and state;
 * empty if impossible. After 20,000 tries the list may lack some.
 */
export function smallestChanges(
  source: ObservableNode,
  wanted: readonly number[],
  now: readonly HasState[],
  needsAll: boolean,
): readonly (readonly Need[])[] {
  return new Search(source, wanted, now, needsAll).run()
}

/** Returns the states of all nodes after the changes. */
export function statesAfter(
  source: ObservableNode,
  needs: readonly Need[],
  now: readonly HasState[],
  needsAll: boolean,
): readonly HasState[] {
  return new Search(source, [], now, needsAll).after(needs)
}

class Search {
  readonly #source: ObservableNode
  readonly #wanted: readonly number[]
  readonly #now: readonly HasState[]
  readonly #needsAll: boolean
  readonly #sensors: readonly SensorNode[]
  readonly #gates: readonly GateNode[]
  readonly #scratch: { state: number }[]
  readonly #known = new Map<string, readonly Candidate[]>()
  #tries = 0

  constructor(source: ObservableNode, wanted: readonly number[], now: readonly HasState[], needsAll: boolean) {
    this.#source = source
    this.#wanted = wanted
    this.#now = now
    this.#needsAll = needsAll
    const behind = nodesBehind(source)
    this.#sensors = behind.filter((node) => node.kind === 'sensor')
    this.#gates = behind.filter((node) => node.kind === 'gate')
    this.#scratch = now.map(({ state }) => ({ state }))
  }

  run(): readonly (readonly Need[])[] {
    if (this.#works([])) return [[]]
    const candidates = this.#best(this.#wanted.flatMap((state) => this.#reach(this.#source, state)))
    const found = candidates
      .map((candidate) => this.#reduce(this.#changes(candidate)))
      .filter((needs) => this.#works(needs))
    const limit = Math.min(this.#sensors.length, ...found.map((needs) => needs.length))
    for (let size = 1; size <= limit && this.#tries <= MAX_TRIES; size++) {
      const all = found.filter((needs) => needs.length === size)
      this.#choose(size, 0, [], all)
      if (all.length > 0) return distinct(all)
    }
    return distinct(found.filter((needs) => needs.length === limit))
  }

  after(needs: readonly Need[]): readonly HasState[] {
    this.#works(needs)
    return this.#scratch
  }

  #reach(node: ObservableNode, state: number): readonly Candidate[] {
    if (node.kind === 'sensor') return [new Map([[node, state]])]
    const key = `${node.index}:${state}`
    const known = this.#known.get(key)
    if (known) return known
    const found = this.#best(this.#reachGate(node, state))
    this.#known.set(key, found)
    return found
  }

  #reachGate(gate: GateNode, state: number): readonly Candidate[] {
    // Members of a group are not nodes of the rule, so that a relation that counts them stays as it is.
    if (gate.counts !== undefined) return this.#now[gate.index]?.state === state ? [new Map()] : []
    const isAnd = gate.type === 'AND' || gate.type === 'NAND'
    const target = gate.type === 'NAND' ? TRUE + FALSE - state : state
    if (gate.limits !== undefined) return this.#count(gate, state)
    if (gate.type === 'GENERAL') return target === TRUE ? this.#anyRow(gate) : this.#noRow(gate)
    const row = gate.rows[0] ?? []
    if (isAnd)
      return target === TRUE ? this.#row(gate, row) : gate.parents.flatMap((parent, i) => this.#other(parent, row[i]))
    if (target === TRUE) return gate.parents.flatMap((parent, i) => this.#reach(parent, row[i] ?? UNKNOWN))
    return this.#together(gate.parents.map((parent, i) => this.#other(parent, row[i])))
  }

  /** Returns ways to have each number of parents in their states that leads to the state, cheapest parents first. */
  #count(gate: GateNode, state: number): readonly Candidate[] {
    const ways = gate.parents.map((parent, i) => {
      const { wanted = UNKNOWN } = gate.inputs[i] ?? {}
      const [met, other] = [this.#reach(parent, wanted), this.#other(parent, wanted)]
      return { met, other, extra: this.#least(met) - this.#least(other) }
    })
    const order = ways.toSorted((a, b) => a.extra - b.extra)
    const numbers = Array.from({ length: ways.length + 1 }, (_, n) => n)
    const fitting = numbers.filter((n) => decideCount(gate, n, n, ways.length) === state)
    return fitting.flatMap((n) => this.#together(order.map(({ met, other }, i) => (i < n ? met : other))))
  }

  #least(candidates: readonly Candidate[]): number {
    return Math.min(Number.MAX_SAFE_INTEGER, ...candidates.map((candidate) => this.#cost(candidate)))
  }

  #anyRow(gate: GateNode): readonly Candidate[] {
    return gate.rows.flatMap((row) => this.#row(gate, row))
  }

  #row(gate: GateNode, row: readonly number[]): readonly Candidate[] {
    return this.#together(gate.parents.map((parent, i) => this.#reach(parent, row[i] ?? UNKNOWN)))
  }

  /** Returns ways to match no row: a parent in a state that no row lists, or a combination that no row lists. */
  #noRow(gate: GateNode): readonly Candidate[] {
    const single = gate.parents.flatMap((parent, i) => {
      const listed = new Set(gate.rows.map((row) => row[i]))
      return parent.states.flatMap((_, state) => (listed.has(state) ? [] : this.#reach(parent, state)))
    })
    let partial: readonly { key: string; candidate: Candidate }[] = [{ key: '', candidate: new Map() }]
    for (const parent of gate.parents) {
      partial = partial.flatMap(({ key, candidate }) =>
        parent.states.flatMap((_, state) =>
          this.#together([[candidate], this.#reach(parent, state)]).map((one) => ({
            key: `${key},${state}`,
            candidate: one,
          })),
        ),
      )
      if (partial.length > 1024)
        partial = partial.toSorted((a, b) => this.#cost(a.candidate) - this.#cost(b.candidate)).slice(0, 1024)
    }
    const listed = new Set(gate.rows.map((row) => `,${row.join()}`))
    return [...single, ...partial.filter(({ key }) => !listed.has(key)).map(({ candidate }) => candidate)]
  }

  #other(parent: ObservableNode, state: number | undefined): readonly Candidate[] {
    return parent.states.flatMap((_, other) => (other === state ? [] : this.#reach(parent, other)))
  }

  #together(lists: readonly (readonly Candidate[])[]): readonly Candidate[] {
    let joined: readonly Candidate[] = [new Map()]
    for (const list of lists) joined = this.#best(joined.flatMap((a) => list.flatMap((b) => join(a, b))))
    return joined
  }

  #best(candidates: readonly Candidate[]): readonly Candidate[] {
    return candidates.toSorted((a, b) => this.#cost(a) - this.#cost(b) || a.size - b.size).slice(0, MAX_CANDIDATES)
  }

  #cost(candidate: Candidate): number {
    let cost = 0
    for (const [sensor, state] of candidate) if (this.#stateOf(sensor) !== state) cost++
    return cost
  }

  #changes(candidate: Candidate): readonly Need[] {
    return [...candidate]
      .filter(([sensor, state]) => this.#stateOf(sensor) !== state)
      .map(([sensor, state]) => ({ sensor, state }))
  }

  #reduce(needs: readonly Need[]): readonly Need[] {
    let kept = needs
    for (const need of needs) {
      const without = kept.filter((one) => one !== need)
      if (this.#works(without)) kept = without
    }
    return kept.toSorted((a, b) => a.sensor.slot - b.sensor.slot)
  }

  /** Adds each set of `size` more changes that works to `all`, trying sensors and their states in order. */
  #choose(size: number, from: number, chosen: readonly Need[], all: (readonly Need[])[]): void {
    if (size === 0) {
      if (this.#works(chosen)) all.push(chosen)
      return
    }
    for (let i = from; i < this.#sensors.length; i++) {
      const sensor = this.#sensors[i] as SensorNode // i is below length
      for (let state = 0; state < sensor.states.length; state++) {
        if (this.#tries > MAX_TRIES) return
        if (state !== this.#stateOf(sensor)) this.#choose(size - 1, i + 1, [...chosen, { sensor, state }], all)
      }
    }
  }

  #works(needs: readonly Need[]): boolean {
    this.#tries++
    for (const sensor of this.#sensors) this.#set(sensor, this.#stateOf(sensor))
    for (const { sensor, state } of needs) this.#set(sensor, state)
    for (const gate of this.#gates)
      if (gate.counts === undefined) this.#set(gate, decide(gate, this.#scratch, this.#needsAll))
    return this.#wanted.includes(this.#scratch[this.#source.index]?.state ?? UNKNOWN)
  }

  #set(node: ObservableNode, state: number): void {
    const position = this.#scratch[node.index]
    if (position) position.state = state
  }

  #stateOf(sensor: SensorNode): number {
    return this.#now[sensor.index]?.state ?? UNKNOWN
  }
}

function join(a: Candidate, b: Candidate): readonly Candidate[] {
  const joined = new Map(a)
  for (const [sensor, state] of b) {
    if ((joined.get(sensor) ?? state) !== state) return []
    joined.set(sensor, state)
  }
  return [joined]
}

function distinct(all: readonly (readonly Need[])[]): readonly (readonly Need[])[] {
  const byKey = new Map(all.map((needs) => [needs.map(({ sensor, state }) => `${sensor.slot}:${state}`).join(), needs]))
  return [...byKey.values()].toSorted(compareNeeds)
}

function compareNeeds(a: readonly Need[], b: readonly Need[]): number {
  for (const [i, need] of a.entries()) {
    const other = b[i] ?? need
    const order = need.sensor.slot - other.sensor.slot || need.state - other.state
    if (order !== 0) return order
  }
  return 0
}
