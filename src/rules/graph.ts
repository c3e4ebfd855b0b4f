/** Builds the graph of a rule, node by node; names, properties and states are checked by the compiler. */
import type {
  Actuator,
  DefinedPlug,
  Relation,
  Rule,
  Sensor,
  StateChange,
  TaskSettings,
  Template,
  Trigger,
  VariableDeclaration,
} from '#core'
import { AppError, durationMs } from '#kernel'
import type { Duration, Properties, RawData } from './plug-types.ts'
import { fieldsAt, PathValue, type Value, valueAt } from './value.ts'

/** A node in one of its states. */
export interface Held {
  readonly source: string
  readonly state: string
}

/** What a trigger reacts to. */
export interface Edge {
  readonly source: string
  readonly statesTrigger?: readonly string[]
  readonly stateChangeTrigger?: StateChange
  readonly begins?: readonly string[]
  readonly ends?: readonly string[]
}

type Some<T> = readonly [T, ...T[]]

/** A sensor or gate of a graph. */
export interface StateNode<State extends string> {
  readonly label: string
  /** the current state, as a value for properties of other nodes */
  readonly state: Value<State>
  /** while it has this state: a parent of a gate, or a condition of a trigger */
  is(state: State): Held
  /** while it has one of these states */
  isOneOf(...states: Some<State>): Edge
  /** once when it enters these states */
  begins(...states: Some<State>): Edge
  /** once when it leaves these states */
  ends(...states: Some<State>): Edge
  /** when it goes from one state to another; `*` is any */
  changes(from: State | '*', to: State | '*'): Edge
  /** after each of its runs */
  runs(): Edge
}

export interface SensorNode<State extends string, Data> extends StateNode<State> {
  readonly kind: 'sensor'
  /** its raw data, as values for properties of other nodes */
  readonly data: Data
}

export interface ActuatorNode {
  readonly kind: 'actuator'
  readonly label: string
}

type Gate = StateNode<'TRUE' | 'FALSE'>

type Shared<N, State extends string> = Omit<
  N,
  'label' | 'name' | 'properties' | 'resource' | 'retryConfig' | 'timeoutState'
> & {
  /** default of sensors: `$`, the resource of the task; null: none */
  readonly resource?: string | Value<string> | null
  readonly timeoutState?: State
  readonly retryConfig?: Omit<NonNullable<Sensor['retryConfig']>, 'errorState'> & { readonly errorState?: State }
}

export type SensorOptions<State extends string> = Readonly<Shared<Sensor, State>>
export type ActuatorOptions = Readonly<Omit<Shared<Actuator, never>, 'timeoutState'>>

export interface FireOptions {
  /** cool-down of the destination; whole seconds */
  readonly atMostEvery?: Duration
}

type Rest<P, Options> =
  Partial<P> extends P ? readonly [properties?: P, options?: Options] : readonly [properties: P, options?: Options]

interface SensorEntry {
  readonly rest: readonly [properties?: object, options?: SensorOptions<string>]
  readonly node: SensorNode<string, unknown>
}

interface ActuatorEntry {
  readonly rest: readonly [properties?: object, options?: ActuatorOptions]
}

/** What nodes of each plug take and have. Computed once for all nodes, so that large files compile fast. */
export interface Catalogue {
  readonly sensors: Readonly<Record<string, SensorEntry>>
  readonly actuators: Readonly<Record<string, ActuatorEntry>>
}

export interface CatalogueOf<P extends DefinedPlug> extends Catalogue {
  readonly sensors: {
    readonly [S in Extract<P, { readonly kind: 'sensor' }> as S['name']]: {
      readonly rest: Rest<Properties<S['input']>, SensorOptions<S['states'][number]>>
      readonly node: SensorNode<S['states'][number], RawData<S['output'], S['openOutput']>>
    }
  }
  readonly actuators: {
    readonly [A in Extract<P, { readonly kind: 'actuator' }> as A['name']]: {
      readonly rest: Rest<Properties<A['input']>, ActuatorOptions>
    }
  }
}

const MAX_NODES = 10_000

export class Graph<C extends Catalogue = Catalogue> {
  readonly #sensors: Sensor[] = []
  readonly #relations: Relation[] = []
  readonly #actuators: Actuator[] = []
  readonly #triggers: Trigger[] = []
  readonly #notes: Note[] = []
  readonly #labels = new Set<string>()

  sensor<const N extends keyof C['sensors'] & string>(
    label: string,
    plug: N,
    ...rest: C['sensors'][N]['rest']
  ): C['sensors'][N]['node'] {
    const [properties, { resource = '$', ...options } = {}]: SensorEntry['rest'] = rest
    this.#sensors.push({ label, name: plug, ...resourceIn(resource), ...propertiesIn(properties), ...options })
    return { ...this.#node(label), kind: 'sensor', data: fieldsAt('nodes', label, 'rawData') }
  }

  actuator<const N extends keyof C['actuators'] & string>(
    label: string,
    plug: N,
    ...rest: C['actuators'][N]['rest']
  ): ActuatorNode {
    const [properties, { resource = null, ...options } = {}]: ActuatorEntry['rest'] = rest
    this.#take(label)
    this.#actuators.push({ label, name: plug, ...resourceIn(resource), ...propertiesIn(properties), ...options })
    return { kind: 'actuator', label }
  }

  /** TRUE while all nodes are in these states. */
  all(label: string, ...held: Some<Held>): Gate {
    return this.#gate(label, 'AND', held)
  }

  /** TRUE while at least one node is in its state. */
  any(label: string, ...held: Some<Held>): Gate {
    return this.#gate(label, 'OR', held)
  }

  /** TRUE while at least one node is not in its state; of a single node: while it is not. */
  notAll(label: string, ...held: Some<Held>): Gate {
    return this.#gate(label, 'NAND', held)
  }

  /** TRUE while the number of nodes in their states is in the limits. */
  count(label: string, limits: { readonly atLeast?: number; readonly atMost?: number }, ...held: Some<Held>): Gate {
    return this.#gate(label, 'COUNT', held, limits)
  }

  /** TRUE while the states of the parents are one of the rows. */
  table<const Parents extends Some<StateNode<string>>>(
    label: string,
    parents: Parents,
    rows: Some<{ readonly [I in keyof Parents]: Parents[I] extends { readonly state: Value<infer S> } ? S : never }>,
  ): Gate {
    const combinations = rows.map((row) => row.map(String))
    this.#relations.push({ label, type: 'GENERAL', parentLabels: parents.map((one) => one.label), combinations })
    return this.#node(label)
  }

  /** Makes a node run when something holds or happens. */
  fire(
    when: Held | Edge | StateNode<string>,
    destination: ActuatorNode | SensorNode<string, unknown>,
    { atMostEvery }: FireOptions = {},
  ): void {
    const { source: sourceLabel, ...conditions }: Edge = edgeOf(when)
    this.#triggers.push({
      sourceLabel,
      destinationLabel: destination.label,
      ...conditions,
      ...(atMostEvery !== undefined && { invocationPolicy: secondsOf(atMostEvery) }),
    })
  }

  /** Adds a gate as it is in the JSON. */
  relation(relation: Relation): Gate {
    this.#relations.push(relation)
    return this.#node(relation.label)
  }

  /** Adds a trigger as it is in the JSON. */
  trigger(trigger: Trigger): void {
    this.#triggers.push(trigger)
  }

  /** Adds a note for readers. */
  note(text: string, position?: readonly [number, number]): void {
    this.#notes.push({ text, ...(position && { position }) })
  }

  toRule(): Pick<Rule, 'sensors' | 'relations' | 'actuators' | 'triggers' | 'notes'> {
    return {
      sensors: this.#sensors,
      ...(this.#relations.length > 0 && { relations: this.#relations }),
      ...(this.#actuators.length > 0 && { actuators: this.#actuators }),
      ...(this.#triggers.length > 0 && { triggers: this.#triggers }),
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    }
  }

  #gate(label: string, type: Relation['type'], held: Some<Held>, limits: object = {}): Gate {
    const [parentLabels, row] = [held.map(({ source }) => source), held.map(({ state }) => state)]
    this.#relations.push({ label, type, parentLabels, combinations: [row], ...limits })
    return this.#node(label)
  }

  #node(label: string): StateNode<never> {
    this.#take(label)
    return {
      label,
      state: valueAt('nodes', label, 'state'),
      is: (state) => ({ source: label, state }),
      isOneOf: (...states) => ({ source: label, statesTrigger: states }),
      begins: (...states) => ({ source: label, begins: states }),
      ends: (...states) => ({ source: label, ends: states }),
      changes: (from, to) => ({ source: label, stateChangeTrigger: { stateFrom: from, stateTo: to } }),
      runs: () => ({ source: label }),
    }
  }

  #take(label: string): void {
    if (this.#labels.has(label))
      throw new AppError('VALIDATION', `label: "${label}" is already a node of this rule; use another label`)
    if (this.#labels.size >= MAX_NODES)
      throw new AppError('VALIDATION', `the rule has more than ${MAX_NODES} nodes; split it`)
    this.#labels.add(label)
  }
}

function edgeOf(when: Held | Edge | StateNode<string>): Edge {
  if ('runs' in when) return when.runs()
  return 'state' in when ? { source: when.source, statesTrigger: [when.state] } : when
}

function resourceIn(resource: string | Value<string> | null): { resource?: string } {
  if (resource === null) return {}
  if (typeof resource === 'string') return { resource }
  const variable = /^variables\.([\w$]+)$/.exec(resource.path)?.[1]
  return { resource: variable === undefined ? resource.toJSON() : `$${variable}` }
}

function propertiesIn(properties: object | undefined): { properties?: Record<string, unknown> } {
  if (properties === undefined) return {}
  return { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, written(one)])) }
}

/** Puts placeholders where a property contains values. */
function written(property: unknown): unknown {
  if (property instanceof PathValue) return property.toJSON()
  if (Array.isArray(property)) return property.map(written)
  if (typeof property !== 'object' || property === null) return property
  return Object.fromEntries(Object.entries(property).map(([key, one]) => [key, written(one)]))
}

export function secondsOf(duration: Duration): number {
  const seconds = durationMs(duration) / 1000
  if (Number.isInteger(seconds) && seconds > 0) return seconds
  throw new AppError('VALIDATION', `atMostEvery: "${duration}" is not a number of whole seconds; use a form such as 5m`)
}

type Note = NonNullable<Rule['notes']>[number]

export type VariableTypes = Readonly<Record<string, VariableDeclaration['type'] | Omit<VariableDeclaration, 'name'>>>

type TypeOf<D> = D extends { readonly type: infer T } ? T : D
type ValueOf<T> = T extends 'string' ? string : T extends 'boolean' ? boolean : T extends 'object' ? object : number

export type DeclaredVariables<D> = { readonly [K in keyof D]: Value<ValueOf<TypeOf<D[K]>>> }
export type GivenVariables<V> = { readonly [K in keyof V]: Value<Widened<V[K]>> }
type Widened<T> = T extends string ? string : T extends number ? number : T extends boolean ? boolean : T

export type RuleSettings<V> = Readonly<Omit<TaskSettings, 'variables'>> & { readonly variables?: V }

/** Makes a rule: `write` adds its nodes. */
export function makeGraph<C extends Catalogue, V extends Readonly<Record<string, unknown>>>(
  settings: RuleSettings<V> | null,
  write: (graph: Graph<C>, variables: GivenVariables<V>) => void,
): Rule {
  const graph = new Graph<C>()
  write(graph, fieldsAt('variables') as GivenVariables<V>)
  return { ...graph.toRule(), ...(settings && { task: settings }) }
}

export type TemplateSettings<D> = Readonly<
  Omit<Template, 'sensors' | 'relations' | 'actuators' | 'triggers' | 'notes' | 'variables'>
> & {
  readonly variables?: D
}

/** Makes a template, whose variables are the only ones that its nodes can read. */
export function makeTemplate<C extends Catalogue, D extends VariableTypes>(
  { variables, ...settings }: TemplateSettings<D>,
  write: (graph: Graph<C>, variables: DeclaredVariables<D>) => void,
): Template {
  const graph = new Graph<C>()
  write(graph, fieldsAt('variables') as DeclaredVariables<D>)
  const declared = Object.entries(variables ?? {}).map(([name, one]) => ({
    name,
    ...(typeof one === 'string' ? { type: one } : one),
  }))
  return { ...settings, ...(declared.length > 0 && { variables: declared }), ...graph.toRule() }
}
