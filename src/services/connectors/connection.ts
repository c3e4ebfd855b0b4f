/** Replaces references to secrets of a connection with their values. */
import { AppError } from '#kernel'
import type { SecretReference, StoredConnection } from './connector-schema.ts'
import type { Connection } from './port.ts'

export function secretsOf({ tls, login }: StoredConnection): readonly string[] {
  return [...(typeof tls === 'object' ? Object.values(tls) : []), ...Object.values(login ?? {})].flatMap((value) =>
    typeof value === 'object' ? [value.vault] : [],
  )
}

/** Throws `VALIDATION` for a secret that the vault does not have. */
export function openedConnection(
  { tls, login, ...rest }: StoredConnection,
  secrets: ReadonlyMap<string, string>,
): Connection {
  return {
    ...rest,
    ...(tls !== undefined && { tls: typeof tls === 'object' ? opened(tls, secrets) : tls }),
    ...(login !== undefined && { login: opened(login, secrets) }),
  }
}

function opened(
  fields: Readonly<Record<string, string | SecretReference | undefined>>,
  secrets: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined || typeof value === 'string') return value === undefined ? [] : [[name, value]]
      const secret = secrets.get(value.vault)
      if (secret === undefined) throw new AppError('VALIDATION', `the vault has no secret "${value.vault}"`)
      return [[name, secret]]
    }),
  )
}
