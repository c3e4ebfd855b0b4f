/**
 * Defines values as templates see them, modelled on Java. An integral `number` is an Integer, or a Long beyond 32 bits;
 * any other is a Double. Values that a number cannot represent are boxed: integral doubles, floats, decimals, single
 * characters. A `bigint` is a Long beyond 2^53, or a BigInteger beyond 2^63.
 *
 * VALUE-1 JavaScript itself is unreachable: members are looked up in tables of neighbouring folders and among the keys
 *   of data, never on a prototype
 */
import type { Budget } from '../budget.ts'

export type Value = null | boolean | number | bigint | string | JavaObject

export type Compat = '1.7' | '2.4'

export interface Environment {
  readonly compat: Compat
  readonly budget: Budget
}

export abstract class JavaObject {
  abstract readonly kind: Kind
  abstract textIn(environment: Environment): string | null

  equalsIn(other: JavaObject, _environment: Environment): boolean {
    return this === other
  }

  /** Same as `hashCode()`; 1 for identity hashes. */
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
