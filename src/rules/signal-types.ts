/** Defines signals, which are values that change over time, and conditions over them. */
import type { Draft, Place, Written } from './draft.ts'
import type { Duration } from './plug-types.ts'
import type { Value } from './value.ts'

/** What holds or does not hold, or is unknown. */
export interface Condition {
  /** how it appears in labels */
  readonly hint: string
  /** Adds what decides it. Returns the node and the state that means that it holds. */
  place(draft: Draft): Place
  /** The condition as an expression. */
  write(draft: Draft): Written
  /** while it does not hold */
  readonly not: Condition
  /** how often it began, in the last time of this length; default: since the rule began */
  times(duration?: Duration): NumberSignal
  /** how long it held, in the last time of this length; default: since the rule began */
  time(unit: Unit, duration?: Duration): NumberSignal
  /** the same without short changes */
  debounced(duration: Duration, edge?: 'trailing' | 'leading'): Condition
}

export interface Conditions {
  /** how long it must hold without a break */
  readonly for?: Duration
  /** what ends it; default: that it does not hold any more */
  readonly until?: Condition
  /** what a downtime of the host does to the wait */
  readonly downtime?: 'restart' | 'continue' | 'confirm'
}

export type Operand = number | Value<number> | NumberSignal
export type Unit = 'ms' | 's' | 'm' | 'h' | 'd'

/** Any value that changes over time, as part of texts. */
export interface AnySignal {
  write(draft: Draft): Written
  /** how it appears in labels */
  readonly hint: string
}

export interface NumberSignal extends AnySignal {
  above(limit: Operand, more?: Conditions): Condition
  below(limit: Operand, more?: Conditions): Condition
  atLeast(limit: Operand, more?: Conditions): Condition
  atMost(limit: Operand, more?: Conditions): Condition
  between(low: Operand, high: Operand, more?: Conditions): Condition
  is(value: Operand, more?: Conditions): Condition
  plus(other: Operand): NumberSignal
  minus(other: Operand): NumberSignal
  times(other: Operand): NumberSignal
  over(other: Operand): NumberSignal
  readonly abs: NumberSignal
  /** the value before */
  readonly previous: NumberSignal
  /** the first value */
  readonly first: NumberSignal
  /** difference to the value before, or to the value that held when the duration began */
  change(duration?: Duration): NumberSignal
  /** the same, per unit of time */
  rate(unit: Unit, duration?: Duration): NumberSignal
  /** slope of the line through the values of the duration, per unit of time */
  slope(duration: Duration, unit?: Unit): NumberSignal
  /** what a counter counted, over its wraps and resets */
  increase(more?: { readonly wraps?: number; readonly over?: Duration }): NumberSignal
  /** time-weighted mean: each value has the weight of its duration */
  timeWeightedMean(duration: Duration): NumberSignal
  /** value times unit of time */
  integral(unit: Unit, duration?: Duration): NumberSignal
  /** mean that forgets exponentially, with this time constant */
  exponentialMean(constant: Duration): NumberSignal
  /** distance from the mean of the earlier values of the duration, in standard deviations */
  zScore(duration: Duration): NumberSignal
  /** the value, which follows only changes of at least this size */
  deadband(band: number): NumberSignal
  mean(over: Duration | { readonly samples: number }): NumberSignal
  min(over: Duration | { readonly samples: number }): NumberSignal
  max(over: Duration | { readonly samples: number }): NumberSignal
  sum(over: Duration | { readonly samples: number }): NumberSignal
  percentile(percent: number, over: Duration | { readonly samples: number }): NumberSignal
  /** while no value came for this time */
  silent(duration: Duration): Condition
}

export interface ChoiceSignal<T> extends AnySignal {
  is(value: T, more?: Conditions): Condition
  isNot(value: T, more?: Conditions): Condition
  /** while no value came for this time */
  silent(duration: Duration): Condition
}

/** A value of messages, with what replaces it in a condition when a message lacks it. */
export interface Replaceable<T, S> {
  /** the last value counts for this time after its message */
  hold(duration: Duration): S
  /** this value counts when none is known */
  default(value: T): S
}

export interface NumberMetric extends NumberSignal, Replaceable<number, NumberMetric> {}

export interface ChoiceMetric<T> extends ChoiceSignal<T>, Replaceable<T, ChoiceMetric<T>> {}

export type SignalOf<T> = [T] extends [number] ? NumberMetric : ChoiceMetric<T>
