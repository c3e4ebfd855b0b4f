/**
 * What a plug is: a versioned function behind a sensor or an actuator.
 * A plug sees its context and nothing else. Time and randomness come from the context, so that a simulated
 * run repeats to the byte.
 */

import type { Calculation } from './calculation.ts'
import type { Downtime, DowntimePolicy } from './downtime.ts'

/** `json`: an object or an array */
export type FieldType =
  'string' | 'integer' | 'long' | 'float' | 'double' | 'boolean' | 'object' | 'array' | 'json' | 'any'

/** How a property's text is meant. `template`: `{{}}` is rendered before the call. `logic` and `code`: JSON Logic, an expression or a script, handed over unresolved. */
export interface FieldFormat {
  type: 'enum' | 'resource' | 'vault' | 'duration' | 'code' | 'url' | 'date' | 'template' | 'logic'
  /** for `enum` */
  values?: readonly string[]
}

/** One property that a plug takes. */
export interface InputField {
  type: FieldType
  /** a call without it is an execution error; default false */
  mandatory?: boolean
  defaultValue?: unknown
  format?: FieldFormat
  description?: string
  /** shown in error messages and docs */
  example?: unknown
  /** never shown in events or logs */
  sensitive?: boolean
}

/** One field of the raw data that a plug gives. */
export interface OutputField {
  type: FieldType
  description?: string
  unit?: string
}

export type PlugKind = 'sensor' | 'actuator'

/** A failure that `check` found in a property. */
export interface PropertyProblem {
  property: string
  message: string
  suggestion?: string
}

/**
 * What a call gives. A sensor gives a state, raw data, or both. A bare string is short for `{ state }`.
 * Raw data and memory must be plain JSON: an answer that holds anything else is a failure that names the place.
 */
export interface PlugResult<State extends string = string> {
  state?: State
  /** replaces the node's raw data as a whole */
  rawData?: Record<string, unknown>
  /** handed to this node's next call as `context.internalState` */
  internalState?: unknown
  /** an actuator's answer, kept as actuator data */
  message?: string
  /** ms to hold this result back; a newer execution of the node supersedes it. Survives a restart */
  after?: number
  /** ms of the whole wait, when part of it has passed: what begins again after a downtime; default `after` */
  whole?: number
  /** what follows later unless the node runs again before; needs an `after` of its own */
  then?: PlugResult<State>
}

export type PlugAnswer<State extends string = string> = PlugResult<State> | State | undefined | void

/** Raw data of a node as other nodes see it: its own fields plus `state` (when certain) and `collectedTime` (epoch ms). */
export type NodeData = Readonly<Record<string, unknown>>

export interface PlugLog {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** How `number` of a context reads. */
export interface NumberOptions {
  /** whether true and false count as 1 and 0; default false */
  readonly booleans?: boolean
}

/**
 * What a call may know. Valid during the call; an async plug may keep it until its promise settles.
 * Its methods want their context: call `context.random()`, do not take `random` out of it.
 */
export interface PlugContext<Properties = Record<string, unknown>, Prepared = unknown> {
  /** resolved, defaulted and of the declared types; the next call may find the same object, filled anew */
  readonly properties: Properties
  /** what `prepare` made of the constant properties */
  readonly prepared: Prepared
  /**
   * one value of the message in reach of this node as a finite number: a number, or a text that is a plain decimal such as
   * "21.50". Throws `PLUG_FAILED` that names the value and says what it is, when it is anything else: what is absent, null,
   * NaN, blank, beyond 2^53 or a text such as "0123" is unknown, and never 0
   */
  number(name: string, options?: NumberOptions): number
  /** the same as a text: a text as it is, a number or a truth as its text. Throws `PLUG_FAILED` for anything else */
  text(name: string): string
  /** one value of the message in reach of this node as it came, `undefined` when there is none; null stays null */
  streamValue(key: string): unknown
  /**
   * when the last message of this node's resource arrived, or the last that had a value of that name; epoch ms of the
   * engine's clock, undefined when none came. Whether it is new says `isNew`: two messages may come at one time
   */
  streamTime(key?: string): number | undefined
  /** whether the message that began this run has that value itself; a value carried over from an earlier one is not new */
  isNew(key: string): boolean
  /**
   * whether that node has run with success since this node last answered with success: then its data is not what this
   * node has seen before. True for a node of which the rule does not show that this node reads it
   */
  isNewOf(label: string): boolean
  /**
   * of a plug that absorbs late readings: messages of this node's resource that came behind a newer one since it last
   * answered with success, in the order in which they came; at most 100. Their values are for the memory alone
   */
  readonly late: readonly Readonly<Record<string, unknown>>[]
  /** the message in reach as a copy, empty on a tick without recent data */
  readonly streamData: Readonly<Record<string, unknown>>
  /** last raw data per node label, plus `GLOBAL` with the stream data */
  readonly rawData: Readonly<Record<string, NodeData>>
  /** one value by binding path, such as `streamdata.temperature`, `nodes.a.state` or `variables.limit` */
  lookup(path: readonly string[]): unknown
  /** last answers of actuators, by label */
  readonly actuatorData: Readonly<Record<string, { message?: string; rawData?: unknown; collectedTime: number }>>
  /** what this node gave last as `internalState` */
  readonly internalState: unknown
  readonly task: { readonly TASK_ID: string; readonly RESOURCE: string | undefined; readonly NODE_NAME: string }
  readonly node: {
    readonly NAME: string
    /** the node's own; `lookup(['node', 'RESOURCE'])` and `${node.RESOURCE}` give the task's when there is none */
    readonly RESOURCE: string | undefined
    /** the source whose trigger ran this node */
    readonly TRIGGER: string | undefined
  }
  readonly globalSettings: Readonly<Record<string, unknown>>
  /** epoch ms of the engine's clock, virtual in a simulation */
  readonly now: number
  /** deterministic id of this execution, to be used as idempotency key */
  readonly id: string
  /** how many rules in a row led to this call: 0 when what began it came from no rule */
  readonly hops: number
  /** what everything that came of one arrival is known by, however many rules led to it; a host counts by it */
  readonly root?: string
  /**
   * true when the id does not say what the call comes after: of an `unordered` node, of one that was paused, and of a
   * sensor that no trigger ran, which has its id before what the sensors beside it trigger
   */
  readonly unordered?: boolean
  /**
   * the last time in which the host was away, as far as it matters to this node; undefined without one, and where it is
   * time that passed (`continue`). `endOfWait` reckons with it
   */
  readonly downtime?: Downtime | undefined
  /** in [0, 1), from the task's seed */
  random(): number
  readonly log: PlugLog
  /** aborted when the time limit is over, the execution is superseded, or the task stops */
  readonly signal: AbortSignal
}

/** The values of an enum, else any text. */
type TextOf<F extends InputField> = F extends {
  format: { type: 'enum'; values: readonly (infer Value extends string)[] }
}
  ? Value
  : string

type FieldValue<F extends InputField> = F['type'] extends 'string'
  ? TextOf<F>
  : F['type'] extends 'boolean'
    ? boolean
    : F['type'] extends 'integer' | 'long' | 'float' | 'double'
      ? number
      : F['type'] extends 'array'
        ? readonly unknown[]
        : F['type'] extends 'object'
          ? Readonly<Record<string, unknown>>
          : unknown

type Present<F extends InputField> = F extends { mandatory: true }
  ? true
  : F extends { defaultValue: unknown }
    ? true
    : false

/** The type of `context.properties` that follows from a declaration. */
export type PropertiesOf<Input extends Readonly<Record<string, InputField>>> = {
  readonly [K in keyof Input]: Present<Input[K]> extends true ? FieldValue<Input[K]> : FieldValue<Input[K]> | undefined
}

/** A state that depends on one number of the message alone, by where that number lies. */
export interface Steps<State extends string = string> {
  /** the parameter of the message */
  readonly parameter: string
  /** finite, ascending; 1 to 8 */
  readonly cuts: readonly number[]
  /** 2 * cuts + 1: below the first cut, at it, between it and the next ... above the last */
  readonly states: readonly State[]
  /**
   * `execute` reads the parameter by `context.number`, with `booleans`: true and false are 1 and 0, plain decimals those
   * numbers, and it fails on everything else, without an effect. Default: nothing is known of what is no number
   */
  readonly reads?: 'number'
}

/** Where a call acts from, for `touches`. */
export interface TouchContext {
  readonly taskId: string
  /** of the node, else of the task */
  readonly resource: string | undefined
}

export interface PlugDefinition<
  Input extends Readonly<Record<string, InputField>> = Readonly<Record<string, InputField>>,
  State extends string = string,
  Prepared = unknown,
> {
  name: string
  /** `major.minor.patch` */
  version: string
  kind: PlugKind
  description?: string
  category?: string
  /**
   * of a sensor that hears events instead of broker data: messages of its resource on this channel run it, and nothing
   * else that arrives by itself does, whatever its triggers and clocks say; no other sensor sees them. A lower-case
   * letter, then at most 39 lower-case letters, digits or -
   */
  channel?: string
  /**
   * whether a call changes something outside, as a stored message or a raised alarm does; a function when it depends on
   * the resolved properties, which must be pure. Dry runs leave such calls out. Default: true for actuators, false for
   * sensors
   */
  acts?: boolean | ((properties: PropertiesOf<Input>) => boolean)
  /**
   * names of the values of the message that a call asks for by itself, beside its placeholders, logic and code (and
   * beside `timestamp`, which every message may have); a function when they depend on the properties, of which it gets
   * the constant ones and the names of the others, and which gives undefined when they cannot be told or absence is
   * news too. A root sensor that reads values by name runs on messages that have at least one of them themselves.
   * Default: cannot be told, so that every message runs it
   */
  parameters?:
    | readonly string[]
    | ((properties: Partial<PropertiesOf<Input>>, later: ReadonlySet<string>) => readonly string[] | undefined)
  /**
   * labels of the nodes whose data a call asks for by itself, beside its placeholders, logic and code. Pure; it gets the
   * constant properties. The node is evaluated after the nodes of its stage that it reads, and `isNewOf` knows them
   */
  nodes?(properties: Partial<PropertiesOf<Input>>): readonly string[]
  /**
   * `message`: what a call gives follows from its properties and values of the message at hand alone, and it changes
   * nothing: no memory, no other nodes, no chance, no effect; `now` is the time of that message. Such a call may begin while the task is at work on an
   * earlier message; its answer still takes its turn
   */
  reads?: 'message'
  /**
   * what a call that acts touches, as texts such as `alarm:boiler-1/HOT`. Calls of one task that touch the same thing
   * are made one after the other, in the order in which they fired. It must be pure. Default: the node itself
   */
  touches?(properties: PropertiesOf<Input>, context: TouchContext): readonly string[]
  /**
   * versions that rules may name for this plug beside its own, as `>=1.0.0 <3`: comparators `>=`, `<`, `<=`, `>` and `=`
   * that must all hold
   */
  compatible?: string
  /**
   * of a sensor that tells that something did not come: a check of a rule warns when no clock leads to it, since then
   * nothing begins the wait for the first. Default false
   */
  tellsSilence?: boolean
  /**
   * of a sensor: what becomes of a wait of its answers that a downtime of the host fell into, unless its rule says otherwise.
   * `restart`: it begins again with the start; `continue`: the time has passed; `confirm`: it shows nothing until the next
   * run. Default `continue`
   */
  downtime?: DowntimePolicy
  /**
   * of a sensor: a reading that came behind a newer one, and is dropped by the rule, is handed to its next call in `late`
   */
  absorbs?: 'late'
  /** the states a sensor can give, in order; none for actuators */
  states?: readonly State[]
  input?: Input
  /** fields of the raw data; `open: true` when the plug also gives fields that cannot be known beforehand */
  output?: Readonly<Record<string, OutputField>>
  openOutput?: boolean
  /** finds problems in the constant properties, before anything runs */
  check?(properties: Partial<PropertiesOf<Input>>): readonly PropertyProblem[]
  /**
   * For a sensor that only compares one number of the message with fixed limits: the comparison as data, or undefined
   * when these properties want more. The engine then may find the state without a call, and calls `execute` only when
   * somebody looks. Whenever the parameter is a number below 2^53 in magnitude, `execute` must give the same state and have no effect.
   */
  steps?(properties: PropertiesOf<Input>): Steps<NoInfer<State>> | undefined
  /**
   * For a sensor that only calculates with numbers: its numbers and its state as formulas over properties, the message
   * (`streamdata.<name>`) and raw data of other nodes (`nodes.<label>.rawData.<name>`); as a function, of the constant
   * properties, undefined when these want more. The engine then may work them out without a call, and calls `execute`
   * only when somebody looks. Whenever all that they read and give are finite numbers, and truths and texts where they ask
   * for one (`streamdata.<name> === true`), `execute` must give the same and have no effect.
   */
  calculates?:
    | Calculation<NoInfer<State>>
    | ((properties: Partial<PropertiesOf<Input>>) => Calculation<NoInfer<State>> | undefined)
  /**
   * turns properties into something fast: once per graph when all of them are constant, `logic` or `code`, and once per
   * set of values otherwise. It must be pure, since a check of the rule calls it as well and reports what it throws
   */
  prepare?(properties: PropertiesOf<Input>): Prepared
  execute(
    context: PlugContext<PropertiesOf<Input>, Prepared>,
  ): PlugAnswer<NoInfer<State>> | PromiseLike<PlugAnswer<NoInfer<State>>>
}

/** A registered plug; its declaration is checked and frozen. Made by definePlug. */
export type Plug = Readonly<
  Omit<
    PlugDefinition,
    | 'acts'
    | 'parameters'
    | 'nodes'
    | 'touches'
    | 'states'
    | 'input'
    | 'output'
    | 'openOutput'
    | 'check'
    | 'steps'
    | 'calculates'
    | 'prepare'
    | 'execute'
  > & {
    acts: boolean | ((properties: Readonly<Record<string, unknown>>) => boolean)
    states: readonly string[]
    input: Readonly<Record<string, InputField>>
    output: Readonly<Record<string, OutputField>>
    openOutput: boolean
    parameters:
      | readonly string[]
      | ((properties: Readonly<Record<string, unknown>>, later: ReadonlySet<string>) => readonly string[] | undefined)
      | undefined
    nodes: ((properties: Readonly<Record<string, unknown>>) => readonly string[]) | undefined
    touches: ((properties: Readonly<Record<string, unknown>>, context: TouchContext) => readonly string[]) | undefined
    check: ((properties: Readonly<Record<string, unknown>>) => readonly PropertyProblem[]) | undefined
    steps: ((properties: Readonly<Record<string, unknown>>) => Steps | undefined) | undefined
    calculates: Calculation | ((properties: Readonly<Record<string, unknown>>) => Calculation | undefined) | undefined
    prepare: ((properties: Readonly<Record<string, unknown>>) => unknown) | undefined
    execute(context: PlugContext): PlugAnswer | PromiseLike<PlugAnswer>
  }
>

/**
 * What runs for the version that a rule names, and why: it is that `version`, none was named and it is the `newest`, it
 * says that it stands for that version (`compatible`), or it is only the newest of the same `major` version.
 */
export interface ResolvedPlug {
  readonly plug: Plug
  readonly by: 'version' | 'newest' | 'compatible' | 'major'
}

/** The plugs that a rule may name. */
export interface PlugRegistry {
  /** which plug runs for a name, kind and version; the one place that decides it */
  resolve(kind: PlugKind, name: string, version?: string): ResolvedPlug | undefined
  /** the plug of `resolve` */
  find(kind: PlugKind, name: string, version?: string): Plug | undefined
  /** for suggestions: what there is */
  list(): readonly Plug[]
}
