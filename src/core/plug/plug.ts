/**
 * Defines the interface of plugs: versioned functions behind sensors and actuators. A plug depends only on its context,
 * which also supplies time and randomness, so that a simulated run can be repeated byte for byte.
 */

import type { Calculation } from './calculation.ts'
import type { Downtime, DowntimePolicy } from './downtime.ts'

/** `json`: an object or an array */
export type FieldType =
  'string' | 'integer' | 'long' | 'float' | 'double' | 'boolean' | 'object' | 'array' | 'json' | 'any'

/**
 * Interpretation of a property's text. `template`: `{{}}` is rendered before the call. `logic` and `code`: JSON Logic,
 * an expression or a script, passed unresolved.
 */
export interface FieldFormat {
  type: 'enum' | 'resource' | 'vault' | 'duration' | 'code' | 'url' | 'date' | 'template' | 'logic'
  values?: readonly string[]
}

export interface InputField {
  type: FieldType
  /** a call without it fails; default false */
  mandatory?: boolean
  defaultValue?: unknown
  format?: FieldFormat
  description?: string
  /** for error messages and docs */
  example?: unknown
  /** never shown in events or logs */
  sensitive?: boolean
}

/** A property with a fixed set of texts, in short; the defined plug has a text with the format `enum`. */
export interface ChoiceField extends Omit<InputField, 'type' | 'format'> {
  type: 'enum'
  values: readonly string[]
}

/** A property as the author of a plug writes it. */
export type WrittenField = InputField | ChoiceField

/** The properties of a defined plug: choices as texts with the format `enum`. */
export type DefinedFields<Input extends Readonly<Record<string, WrittenField>>> = {
  readonly [K in keyof Input]: Input[K] extends InputField
    ? Input[K]
    : Input[K] extends { type: 'enum'; values: infer Values extends readonly string[] }
      ? Omit<InputField, 'type' | 'format'> & {
          readonly type: 'string'
          readonly format: { readonly type: 'enum'; readonly values: Values }
        } & Pick<Input[K], Extract<keyof Input[K], 'mandatory' | 'defaultValue'>>
      : never
}

export interface OutputField {
  type: FieldType
  description?: string
  unit?: string
}

export type PlugKind = 'sensor' | 'actuator'

export interface PropertyProblem {
  property: string
  message: string
  suggestion?: string
}

/**
 * Result of a call. A sensor returns a state, raw data, or both. A bare string is short for `{ state }`. Raw data and
 * memory must be plain JSON; otherwise the call fails with an error that names the path.
 */
export interface PlugResult<State extends string = string> {
  state?: State
  /** replaces all previous raw data of the node */
  rawData?: Record<string, unknown>
  /** passed as `context.internalState` to this node's next call */
  internalState?: unknown
  /** response of an actuator, kept as actuator data */
  message?: string
  /** ms to delay this result. A newer execution of the node replaces it. Survives a restart */
  after?: number
  /**
   * ms of the whole wait, when part of it has passed; a downtime may restart the wait with this length. Default `after`
   */
  whole?: number
  /** result that applies after this one unless the node runs again first; needs its own `after` */
  then?: PlugResult<State>
  /** true in `then`: the sensor runs again after that time, instead of getting a result */
  again?: boolean
}

export type PlugAnswer<State extends string = string> = PlugResult<State> | State | undefined | void

/**
 * Raw data of a node as other nodes see it: its fields plus `state` (when known for certain) and `collectedTime` (epoch
 * ms).
 */
export type NodeData = Readonly<Record<string, unknown>>

export interface PlugLog {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export interface NumberOptions {
  /** count true and false as 1 and 0; default false */
  readonly booleans?: boolean
}

/**
 * Context of a call, valid during the call; an async plug may keep it until its promise settles. Call methods on the
 * context (`context.random()`); do not detach them.
 */
export interface PlugContext<Properties = Record<string, unknown>, Prepared = unknown> {
  /** resolved, with defaults, converted to the declared types; the next call may reuse the same object */
  readonly properties: Properties
  /** result of `prepare` for these properties */
  readonly prepared: Prepared
  /**
   * value of the message that this node sees, as a finite number: from a number, or from a text that is a plain decimal
   * such as "21.50". Throws `PLUG_FAILED` with name and value for anything else: absent, null, NaN, blank, beyond 2^53
   * or a text such as "0123" is unknown, and never 0
   */
  number(name: string, options?: NumberOptions): number
  /** value as a text: texts unchanged, numbers and booleans as text. Throws `PLUG_FAILED` for anything else */
  text(name: string): string
  /** value of the message that this node sees, unconverted; `undefined` when absent; null stays null */
  streamValue(key: string): unknown
  /**
   * when the last message of this node's resource arrived, or with `key` the last message that contained that value;
   * epoch ms of the engine's clock, undefined before the first. Use `isNew` to detect new values: two messages may
   * arrive at the same time
   */
  streamTime(key?: string): number | undefined
  /**
   * true when the message that began this run contains that value; values carried over from earlier messages are not
   * new
   */
  isNew(key: string): boolean
  /**
   * true when that node has succeeded since this node last succeeded, so that its data is new to this node. Also true
   * when the rule does not show that this node reads that node
   */
  isNewOf(label: string): boolean
  /**
   * for a plug that absorbs late readings: messages of this node's resource that arrived after a newer one, since this
   * node's last success, in order of arrival; at most 100. Use their values for the memory only
   */
  readonly late: readonly Readonly<Record<string, unknown>>[]
  /** for a plug that gathers a group: true when the member of the call has left the group */
  readonly leaves?: boolean
  /** copy of the message that this node sees, empty on a tick without recent data */
  readonly streamData: Readonly<Record<string, unknown>>
  /** last raw data by node label, plus `GLOBAL` for the stream data */
  readonly rawData: Readonly<Record<string, NodeData>>
  /** returns the value at a binding path, such as `streamdata.temperature`, `nodes.a.state` or `variables.limit` */
  lookup(path: readonly string[]): unknown
  /** last responses of actuators, by label */
  readonly actuatorData: Readonly<Record<string, { message?: string; rawData?: unknown; collectedTime: number }>>
  /** last `internalState` of this node */
  readonly internalState: unknown
  readonly task: { readonly TASK_ID: string; readonly RESOURCE: string | undefined; readonly NODE_NAME: string }
  readonly node: {
    readonly NAME: string
    /** the node's own resource; `lookup(['node', 'RESOURCE'])` and `${node.RESOURCE}` fall back to the task's */
    readonly RESOURCE: string | undefined
    readonly TRIGGER: string | undefined
  }
  readonly globalSettings: Readonly<Record<string, unknown>>
  /** epoch ms of the engine's clock, virtual in a simulation */
  readonly now: number
  /** deterministic id of this execution, usable as idempotency key */
  readonly id: string
  /** number of rules in the chain before this call; 0: not caused by a rule */
  readonly hops: number
  /** id of the message or event that began the chain of rules, for the cascade limit of a host */
  readonly root?: string
  /**
   * true when ids may be in another order than calls: for an `unordered` node, for a paused node, and for a sensor
   * without trigger, whose id precedes the ids of nodes that its neighbours trigger
   */
  readonly unordered?: boolean
  /**
   * last downtime of the host that affects this node; undefined without one, and under `continue`. Pass it to
   * `endOfWait`
   */
  readonly downtime?: Downtime | undefined
  /** returns a random number in [0, 1), from the task's seed */
  random(): number
  readonly log: PlugLog
  /** aborts on timeout, when the execution is superseded, or when the task stops */
  readonly signal: AbortSignal
}

type TextOf<F extends WrittenField> = F extends {
  format: { type: 'enum'; values: readonly (infer Value extends string)[] }
}
  ? Value
  : string

type FieldValue<F extends WrittenField> = F extends { type: 'enum'; values: readonly (infer Value extends string)[] }
  ? Value
  : F['type'] extends 'string'
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

type Present<F extends WrittenField> = F extends { mandatory: true }
  ? true
  : F extends { defaultValue: unknown }
    ? true
    : false

export type PropertiesOf<Input extends Readonly<Record<string, WrittenField>>> = {
  readonly [K in keyof Input]: Present<Input[K]> extends true ? FieldValue<Input[K]> : FieldValue<Input[K]> | undefined
}

/** Describes the state as a step function of one number of the message. */
export interface Steps<State extends string = string> {
  readonly parameter: string
  /** finite, ascending; 1 to 8 */
  readonly cuts: readonly number[]
  /** 2 * cuts + 1 states: below the first cut, at it, between it and the next ... above the last */
  readonly states: readonly State[]
  /**
   * set when `execute` reads the parameter with `context.number` and `booleans`, and fails without effect on other
   * values. Default: unknown for values that are not numbers
   */
  readonly reads?: 'number'
}

/** Retries of failed calls: waits double from `minBackoff` to `maxBackoff`, which are durations such as PT1S. */
export interface DefaultRetry {
  /** 1 to 100 */
  readonly maxRetries: number
  readonly minBackoff: string
  readonly maxBackoff: string
}

export interface TouchContext {
  readonly taskId: string
  readonly resource: string | undefined
}

export interface PlugDefinition<
  Input extends Readonly<Record<string, WrittenField>> = Readonly<Record<string, InputField>>,
  State extends string = string,
  Prepared = unknown,
  Name extends string = string,
  Kind extends PlugKind = PlugKind,
  Output extends Readonly<Record<string, OutputField>> = Readonly<Record<string, OutputField>>,
  Open extends boolean = boolean,
> {
  name: Name
  /** `major.minor.patch` */
  version: string
  kind: Kind
  description?: string
  category?: string
  /**
   * for a sensor of events instead of broker data: only messages of its resource on this channel run it, whatever its
   * triggers and clocks are, and no other sensor receives these messages. A lower-case letter, then at most 39
   * lower-case letters, digits or -
   */
  channel?: string
  /**
   * true when a call changes something outside, such as storing a message or raising an alarm; a pure function when
   * that depends on the resolved properties. Dry runs skip such calls. Default: true for actuators, false for sensors
   */
  acts?: boolean | ((properties: PropertiesOf<Input>) => boolean)
  /**
   * names of message values that a call reads in addition to its placeholders, logic and code (and `timestamp`, which
   * any message may contain). A function receives the constant properties and the names of the others, and returns
   * undefined when the reads are unknown or when absent values matter too. A root sensor that reads values by name runs
   * on messages with at least one of them. Default: unknown, so that every message runs it
   */
  parameters?:
    | readonly string[]
    | ((properties: Partial<PropertiesOf<Input>>, later: ReadonlySet<string>) => readonly string[] | undefined)
  /**
   * labels of nodes whose data a call reads in addition to its placeholders, logic and code. Pure; receives the
   * constant properties. This node is evaluated after those nodes in its stage, and `isNewOf` covers them
   */
  nodes?(properties: Partial<PropertiesOf<Input>>): readonly string[]
  /**
   * `message`: the result depends only on properties and values of the current message, without memory, other nodes,
   * randomness or effects; `now` is the time of that message. Such a call may begin while the task still processes an
   * earlier message; its result is still applied in order
   */
  reads?: 'message'
  /**
   * things that a call changes, as texts such as `alarm:boiler-1/HOT`. Calls of one task on the same thing run one
   * after the other in order of firing. Pure. Default: the node itself
   */
  touches?(properties: PropertiesOf<Input>, context: TouchContext): readonly string[]
  /**
   * for an actuator: retries of a failed call when its node has no `retryConfig`. A `CallError` may end them early or
   * delay them. Default: none
   */
  retry?: DefaultRetry
  /**
   * other versions of this plug that rules may name and that this version replaces, as `>=1.0.0 <3`: comparators `>=`,
   * `<`, `<=`, `>` and `=`, all of which must hold
   */
  compatible?: string
  /**
   * for a sensor that reports missing data: checks warn when no clock runs it, directly or through triggers, since
   * nothing then starts the first wait. Default false
   */
  tellsSilence?: boolean
  /**
   * default for what a downtime of the host does to a sensor's waits. `restart`: the wait begins again when the host
   * starts; `continue`: the downtime counts; `confirm`: the sensor shows nothing until its next run. Default `continue`
   */
  downtime?: DowntimePolicy
  /**
   * for a sensor with a group: it has one state for all members. Each call is about the member in `context.node.RESOURCE`;
   * a call without one is about none
   */
  gathers?: 'group'
  /** for a sensor: late readings that the rule drops are passed in `late` to its next call */
  absorbs?: 'late'
  states?: readonly State[]
  /**
   * for a sensor whose states depend on its constant properties: returns its states instead of `states`, undefined when
   * the properties are invalid. Pure
   */
  statesOf?(properties: Partial<PropertiesOf<Input>>): readonly string[] | undefined
  input?: Input
  /** fields of the raw data; `openOutput: true` when others may be present too */
  output?: Output
  openOutput?: Open
  /** reports problems of the constant properties before anything runs */
  check?(properties: Partial<PropertiesOf<Input>>): readonly PropertyProblem[]
  /**
   * For a sensor that compares one number of the message with fixed limits: returns the comparison as data, or
   * undefined when these properties need more. The engine may then determine the state without a call, and calls
   * `execute` only for subscribers. For numbers below 2^53 in magnitude `execute` must return the same state without
   * effects.
   */
  steps?(properties: PropertiesOf<Input>): Steps<NoInfer<State>> | undefined
  /**
   * For a sensor that only calculates: its raw data and state as formulas over properties, the message
   * (`streamdata.<name>`) and raw data of other nodes (`nodes.<label>.rawData.<name>`); or a function of the constant
   * properties that returns the formulas, or undefined when these properties need more. The engine may then evaluate
   * the formulas without a call, and calls `execute` only for subscribers. For finite numbers, and for booleans and
   * texts where a formula compares with one (`streamdata.<name> === true`), `execute` must return the same without
   * effects.
   */
  calculates?:
    | Calculation<NoInfer<State>>
    | ((properties: Partial<PropertiesOf<Input>>) => Calculation<NoInfer<State>> | undefined)
  /**
   * precomputes a value from the properties: once per graph when all properties are constant, `logic` or `code`,
   * otherwise once per set of values. Pure: the check of a rule also calls it and reports its errors
   */
  prepare?(properties: PropertiesOf<Input>): Prepared
  execute(
    context: PlugContext<PropertiesOf<Input>, Prepared>,
  ): PlugAnswer<NoInfer<State>> | PromiseLike<PlugAnswer<NoInfer<State>>>
}

export type Plug = Readonly<
  Omit<
    PlugDefinition,
    | 'acts'
    | 'parameters'
    | 'nodes'
    | 'touches'
    | 'states'
    | 'statesOf'
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
    statesOf: ((properties: Readonly<Record<string, unknown>>) => readonly string[] | undefined) | undefined
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

/** A plug whose declaration the compiler knows, so that rules over it are checked (`reflexarc/rules`). */
export interface DefinedPlug<
  out Name extends string = string,
  out Kind extends PlugKind = PlugKind,
  out Input extends Readonly<Record<string, InputField>> = Readonly<Record<string, InputField>>,
  out State extends string = string,
  out Output extends Readonly<Record<string, OutputField>> = Readonly<Record<string, OutputField>>,
  out Open extends boolean = boolean,
> extends Plug {
  readonly name: Name
  readonly kind: Kind
  readonly input: Input
  readonly states: readonly State[]
  readonly output: Output
  readonly openOutput: Open
}

/**
 * The plug selected for the version that a rule names, and the reason: it has the same `version`, it is the `newest`
 * when none is named, it is `compatible` with that version, or it is the newest of the same `major` version.
 */
export interface ResolvedPlug {
  readonly plug: Plug
  readonly by: 'version' | 'newest' | 'compatible' | 'major'
}

export interface PlugRegistry {
  /** selects the plug for a kind, name and version; all version selection happens here */
  resolve(kind: PlugKind, name: string, version?: string): ResolvedPlug | undefined
  find(kind: PlugKind, name: string, version?: string): Plug | undefined
  list(): readonly Plug[]
}
