/**
 * Values as templates see them, after those of Java. A `number` that is whole is an Integer, or a Long beyond 32 bits; one
 * that is not is a Double. What a number cannot tell by itself is boxed: whole doubles, floats, decimals, single
 * characters. A `bigint` is a Long beyond 2^53, or a BigInteger beyond 2^63.
 *
 * VALUE-1 nothing of JavaScript can be reached: members are looked up in tables of this folder's neighbours and among
 *   the keys of data, never on a prototype
 */
import type { Budget } from '../budget.ts'

export type Value = null | boolean | number | bigint | string | JavaObject

/** Version of Apache's engine whose ways are followed. */
export type Compat = '1.7' | '2.4'

/** What values ask of the rendering that they are part of. */
export interface Environment {
  readonly compat: Compat
  readonly budget: Budget
}

/** Anything that is neither a primitive of ours nor null. */
export abstract class JavaObject {
  /** what its methods are found by */
  abstract readonly kind: Kind
  /** As `toString()` of Java; null when that is null. */
  abstract textIn(environment: Environment): string | null

  /** As `equals`. */
  equalsIn(other: JavaObject, _environment: Environment): boolean {
    return this === other
  }

  /** As `hashCode()`; 1 for what has only its address for one. */
  hashIn(_environment: Environment): number {
    return 1
  }
}

export type Kind =
  | 'double'
  | 'float'
  | 'decimal'
  | 'character'
  | 'list'
  | 'array'
  | 'map'
  | 'view'
  | 'entry'
  | 'iterator'
  | 'scope'
  | 'block'
  | 'host'
