/** Provides the nouns of rules: things, groups of things, conditions over them and what follows. */
import type { DefinedPlug, Group, Rule, TaskSettings } from '#core'
import { Draft, type Origin, type Place, type Written } from './draft.ts'
import { secondsOf } from './graph.ts'
import type { Duration, Named, Names, Properties } from './plug-types.ts'
import { Combined, kept, Metric, Sensed, Signal, silence, together } from './signal.ts'
import type { AnySignal, Condition, NumberSignal, SignalOf } from './signal-types.ts'
import { PathValue, type Value, valueAt } from './value.ts'

/** The values of the messages of a thing, as signals. */
export type Thing<M> = { readonly [K in keyof M]-?: SignalOf<NonNullable<M[K]>> } & {
  /** while no message came for this time */
  silent(duration: Duration): Condition
}

/** The thing of the task, or one with this id. */
export function thing<M extends object>(resource = '$'): Thing<M> {
  return thingAt<M>({ resource })
}

function thingAt<M extends object>(origin: Origin): Thing<M> {
  const field = (name: string): unknown =>
    name === 'silent' ? (duration: Duration) => silence(duration, origin) : new Metric(name, origin)
  return new Proxy({}, { get: (_, name) => (typeof name === 'string' ? field(name) : undefined) }) as Thing<M>
}

/** Holds while all hold. */
export function all(first: Condition, ...others: readonly Condition[]): Condition {
  return new Combined('AND', 'all', [first, ...others])
}

/** Holds while at least one holds. */
export function any(first: Condition, ...others: readonly Condition[]): Condition {
  return new Combined('OR', 'any', [first, ...others])
}

/** Holds while the number of conditions that hold is in the limits. */
export function count(
  limits: { readonly atLeast?: number; readonly atMost?: number },
  ...conditions: readonly [Condition, ...Condition[]]
): Condition {
  return new Combined('COUNT', 'count', conditions, limits)
}

/** Begins when the second condition holds within a time after the first, unless the third held in between. */
export function seq(
  first: Condition,
  second: Condition,
  { within, without }: { readonly within: Duration; readonly without?: Condition },
): Condition {
  return new Sensed('seq', 'Done', (draft) => {
    const [a, b, c] = [first, second, without].map((one) => one?.write(draft))
    const transitions = [
      ...(c === undefined ? [] : [{ from: 'Begun', to: 'Idle', when: c.code }]),
      { from: 'Begun', to: 'Done', when: b?.code },
      { from: ['Idle', 'Begun', 'Done'], to: 'Begun', when: a?.code },
      { from: 'Begun', to: 'Idle', after: within },
    ]
    const parts: readonly Written[] = [a, b, c].flatMap((one) => one ?? [])
    return draft.sensor(
      'seq',
      { name: 'stateMachine', properties: { states: ['Idle', 'Begun', 'Done'], transitions } },
      together(parts),
    )
  })
}

/** A condition over each member of a group. */
export interface Members {
  /** the number of members for which it holds. `within`: each counts for this time; `fresh`: only with a value of this time */
  count(limits: Limits): Condition
  /** the share of the members for which it holds, 0 to 1 */
  share(limits: Limits): Condition
  /** for each member on its own */
  readonly each: EachMember
}

export interface Limits {
  readonly atLeast?: number
  readonly atMost?: number
  readonly within?: Duration
  readonly fresh?: Duration
}

export interface EachMember {
  readonly members: Condition
}

/** Things that are a set, and change with it. */
export function group<M extends object>(set: Group): { where(condition: (member: Thing<M>) => Condition): Members } {
  return {
    where(conditionOf) {
      const members = conditionOf(thingAt<M>({ group: set }))
      const counted = (type: 'COUNT' | 'SHARE', limits: Limits): Condition =>
        new Sensed(`${type.toLowerCase()}_${members.hint}`, 'TRUE', (draft) => {
          const { label, state } = members.place(draft)
          const relation = { type, parentLabels: [label], combinations: [[state]], ...limits }
          return draft.relation(`${type.toLowerCase()}_${members.hint}`, relation)
        })
      return {
        count: (limits) => counted('COUNT', limits),
        share: (limits) => counted('SHARE', limits),
        each: { members },
      }
    },
  }
}

/** What a rule does. */
export interface Effect {
  readonly write: (draft: Draft) => string
}

type Inserted = AnySignal | Value<unknown> | string | number

function filled(draft: Draft, parts: readonly string[], inserted: readonly Inserted[]): string {
  return parts.reduce((all, part, index) => all + insertedText(draft, inserted[index - 1] ?? '') + part)
}

function insertedText(draft: Draft, one: Inserted): string {
  if (one instanceof Signal) {
    const { code } = one.write(draft)
    return `\${${/^[\w.]+$/.test(code) ? code : kept(one, draft).code}}`
  }
  if (one instanceof PathValue) return one.toJSON()
  return typeof one === 'string' || typeof one === 'number' ? String(one) : ''
}

/** A text with signals and values, for effects. */
export interface EffectText {
  readonly parts: readonly string[]
  readonly inserted: readonly Inserted[]
}

export function says(parts: TemplateStringsArray, ...inserted: readonly Inserted[]): EffectText {
  return { parts, inserted }
}

/** Writes a text to the log of the task: log`${t} degrees`. */
export function log(parts: TemplateStringsArray, ...inserted: readonly Inserted[]): Effect {
  return {
    write: (draft) => draft.actuator('log', { name: 'log', properties: { message: filled(draft, parts, inserted) } }),
  }
}

export interface AlarmOptions {
  readonly severity?: 'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING'
  readonly text?: string | EffectText
  readonly properties?: Readonly<Record<string, unknown>>
}

/** Raises an alarm. */
export function alarm(type: string, { text, ...more }: AlarmOptions = {}): Effect {
  return {
    write(draft) {
      const written = typeof text === 'object' ? filled(draft, text.parts, text.inserted) : text
      const properties = { type, ...more, ...(written !== undefined && { text: written }) }
      return draft.actuator(`alarm_${type}`, { name: 'createAlarm', properties })
    },
  }
}

/** Clears the open alarms of a type. */
export function clear(type: string): Effect {
  return { write: (draft) => draft.actuator(`clear_${type}`, { name: 'clearAlarm', properties: { type } }) }
}

type Effects = Effect | readonly Effect[]

export interface Consequences {
  /** once, when the condition begins to hold */
  readonly begins?: Effects
  /** once, when it ends */
  readonly ends?: Effects
  /** at each reading while it holds */
  readonly each?: Effects
  /** cool-down; whole seconds */
  readonly atMostEvery?: Duration
}

export interface MemberConsequences extends Consequences {
  /** once, when it begins to hold for this number of members */
  readonly many?: readonly [number, Effects]
}

export type NounSettings = Readonly<Omit<TaskSettings, 'name'>>

/** A rule: what follows from a condition. */
export function rule(name: string, condition: Condition, what: Consequences, settings?: NounSettings): Rule
export function rule(name: string, condition: EachMember, what: MemberConsequences, settings?: NounSettings): Rule
export function rule(
  name: string,
  condition: Condition | EachMember,
  what: MemberConsequences,
  settings: NounSettings = {},
): Rule {
  const draft = new Draft()
  const isEach = 'members' in condition
  const place = isEach ? condition.members.place(draft) : condition.place(draft)
  addTriggers(draft, place, what, isEach)
  if (what.many !== undefined) {
    const [atLeast, effects] = what.many
    const relation = { type: 'COUNT', parentLabels: [place.label], combinations: [[place.state]], atLeast } as const
    addTriggers(draft, { label: draft.relation('many', relation), state: 'TRUE' }, { begins: effects }, false)
  }
  return { ...draft.toRule(), task: { name, ...settings } }
}

function addTriggers(draft: Draft, { label, state }: Place, what: Consequences, isEach: boolean): void {
  const { begins, ends, each, atMostEvery } = what
  const shared = {
    ...(isEach && { each: true }),
    ...(atMostEvery !== undefined && { invocationPolicy: secondsOf(atMostEvery) }),
  }
  for (const [field, effects] of [
    ['begins', begins],
    ['ends', ends],
    ['statesTrigger', each],
  ] as const)
    for (const effect of effects === undefined ? [] : [effects].flat())
      draft.trigger({ sourceLabel: label, destinationLabel: effect.write(draft), [field]: [state], ...shared })
}

export interface SenseOptions {
  readonly resource?: string
  readonly pollingPeriod?: number
  readonly schedule?: string
}

export interface Nouns<P extends DefinedPlug> {
  /** A sensor with any plug, as a condition: sense('isHour', { hour: 5 }).is('TRUE') */
  sense<const N extends Names<P, 'sensor'>>(
    plug: N,
    properties: Properties<Named<P, 'sensor', N>['input']>,
    options?: SenseOptions,
  ): {
    is(state: Named<P, 'sensor', N>['states'][number]): Condition
    value(field: keyof Named<P, 'sensor', N>['output'] & string): NumberSignal
  }
  /** An actuator with any plug, as an effect. */
  act<const N extends Names<P, 'actuator'>>(plug: N, properties: Properties<Named<P, 'actuator', N>['input']>): Effect
}

export function sense(plug: string, properties: object, { resource = '$', ...options }: SenseOptions = {}) {
  const labelIn = (draft: Draft) =>
    draft.sensor(
      plug,
      { name: plug, properties: { ...properties }, ...options },
      { origins: [{ resource }], nodes: [] },
    )
  return {
    is: (state: string): Condition => new Sensed(`${plug}_${state}`, state, labelIn),
    value: (field: string): NumberSignal =>
      new Signal(`${plug}_${field}`, (draft) => {
        const label = labelIn(draft)
        return { code: valueAt('nodes', label, 'rawData', field).path, origins: [{ resource }], nodes: [label] }
      }),
  }
}

export function act(plug: string, properties: object): Effect {
  return { write: (draft) => draft.actuator(plug, { name: plug, properties: { ...properties } }) }
}
