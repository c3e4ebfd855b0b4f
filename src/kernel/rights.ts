/** Scopes of keys, sessions and tokens, and the one check of them for all listeners. */
import { AppError } from './errors.ts'

/** Scopes that a key may have; `provision` lets devices enrol themselves, and nothing else. */
export const SCOPES = ['device', 'read', 'operate', 'author', 'publish', 'admin', 'provision'] as const

export type Scope = (typeof SCOPES)[number]

/** Resources of a key: those named, those whose id begins with a text, or those of a type. */
export type KeyResources =
  { readonly ids: readonly string[] } | { readonly prefix: string } | { readonly resourceTypeId: string }

export interface Rights {
  readonly scopes: readonly Scope[]
  /** resources to which the scope `device` is limited; absent: all resources of the tenant */
  readonly resources?: KeyResources
}

export const ALL_RIGHTS: Rights = { scopes: ['admin'] }

const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  device: ['device'],
  read: ['read'],
  operate: ['operate', 'read'],
  author: ['author', 'read'],
  publish: ['publish', 'author', 'read'],
  admin: SCOPES,
  provision: ['provision'],
}

export function hasScope({ scopes }: Rights, needed: Scope): boolean {
  for (const scope of scopes) if (INCLUDED[scope].includes(needed)) return true
  return false
}

/** Returns the scopes of the first rights that the second include too. */
export function commonScopes(one: Rights, other: Rights): readonly Scope[] {
  return SCOPES.filter((scope) => hasScope(one, scope) && hasScope(other, scope))
}

/** Throws `FORBIDDEN` unless the rights include one of the scopes. */
export function requireScope(rights: Rights, ...needed: readonly Scope[]): void {
  if (needed.some((scope) => hasScope(rights, scope))) return
  const own = rights.scopes.length === 0 ? 'none' : rights.scopes.join(', ')
  throw new AppError(
    'FORBIDDEN',
    `The scope ${needed.join(' or ')} is missing; these credentials have ${own}. Use a key with this scope`,
  )
}
