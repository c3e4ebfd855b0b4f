/** Finds methods and properties of a value as Apache's engine does for Java objects. */
import { JavaCharacter } from '../values/character.ts'
import { Collection, JavaIterator } from '../values/collections.ts'
import { areEqual, hashOf } from '../values/identity.ts'
import { JavaEntry, JavaMap } from '../values/map.ts'
import { isNumber } from '../values/numbers.ts'
import { Scope } from '../values/scope.ts'
import { shownText } from '../values/text.ts'
import { HostObject } from '../values/host-object.ts'
import type { Environment, Value } from '../values/value.ts'
import { callCollection, ENTRY_METHODS, ITERATOR_METHODS, MAP_METHODS } from './collection-methods.ts'
import { BOOLEAN_METHODS, callNumber } from './number-methods.ts'
import { SCOPE_METHODS } from './scope-methods.ts'
import { CHARACTER_METHODS, TEXT_METHODS } from './text-methods.ts'

export function callMethod(
  self: Value,
  name: string,
  args: readonly Value[],
  environment: Environment,
): Value | undefined {
  environment.budget.spend(1)
  const result = callByKind(self, name, args, environment)
  return result === undefined ? commonMethod(self, name, args, environment) : result
}

function callByKind(self: Value, name: string, args: readonly Value[], environment: Environment): Value | undefined {
  if (typeof self === 'string') return TEXT_METHODS.get(name)?.(self, args, environment)
  if (self === null) return undefined
  if (typeof self === 'boolean') return BOOLEAN_METHODS.get(name)?.(self, args, environment)
  if (self instanceof Collection) return callCollection(self, name, args, environment)
  if (self instanceof Scope)
    return (
      SCOPE_METHODS.get(name)?.(self, args, environment) ?? MAP_METHODS.get(name)?.(self.storage, args, environment)
    )
  if (self instanceof JavaMap) return MAP_METHODS.get(name)?.(self, args, environment)
  if (self instanceof JavaEntry) return ENTRY_METHODS.get(name)?.(self, args, environment)
  if (self instanceof JavaIterator) return ITERATOR_METHODS.get(name)?.(self, args, environment)
  if (self instanceof JavaCharacter) return CHARACTER_METHODS.get(name)?.(self, args, environment)
  if (self instanceof HostObject) return self.methods.get(name)?.(args, environment)
  return isNumber(self) ? callNumber(self, name, args, environment) : undefined
}

function commonMethod(self: Value, name: string, args: readonly Value[], environment: Environment): Value | undefined {
  if (name === 'toString' && args.length === 0) return shownText(self, environment)
  if (name === 'hashCode' && args.length === 0) return hashOf(self, environment)
  return name === 'equals' && args.length === 1 ? areEqual(self, args[0] ?? null, environment) : undefined
}

export function readProperty(self: Value, name: string, environment: Environment): Value | undefined {
  if (self instanceof JavaMap) {
    // in 2.4 a method without arguments takes precedence over a key
    const called = environment.compat === '2.4' && BARE.has(name) ? callMethod(self, name, [], environment) : undefined
    return called === undefined ? self.get(name) : called
  }
  if (self instanceof Scope) return SCOPE_METHODS.get(name)?.(self, [], environment) ?? self.lookUp(name)
  if (self instanceof HostObject) return self.methods.get(name)?.([], environment)
  const upper = name.charAt(0).toUpperCase() + name.slice(1)
  const got = GETTERS.has(`get${upper}`) ? callMethod(self, `get${upper}`, [], environment) : undefined
  if (got !== undefined) return got
  const bare = environment.compat === '2.4' ? callMethod(self, name, [], environment) : undefined
  if (bare !== undefined) return bare
  const is = callMethod(self, `is${upper}`, [], environment)
  return typeof is === 'boolean' ? is : undefined
}

const BARE = new Set(['size', 'isEmpty', 'keySet', 'values', 'entrySet', 'clear', 'toString', 'hashCode'])
const GETTERS = new Set(['getBytes', 'getKey', 'getValue'])
