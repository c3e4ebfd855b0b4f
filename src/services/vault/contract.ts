/**
 * Secrets of tenants, by name: stored sealed, and available to functions and rules of the tenant. The API lists their
 * names.
 *
 * VAULT-1 methods of the API and texts of errors never contain a value
 * VAULT-2 a value is stored sealed: the store without the key of the host does not reveal it
 * VAULT-3 no method grants access to a secret of another tenant
 *
 * Errors are AppErrors: `VALIDATION`, `NOT_FOUND`, `TOO_LARGE`, `STORE` (the host's key has changed).
 */
import type { Caller } from '#kernel'
import type { SecretInfo } from './secret-schema.ts'

export type { SecretInfo } from './secret-schema.ts'

/** Pattern of names, which are valid as names of environment variables. */
export const SECRET_NAME = '^[A-Za-z_][A-Za-z0-9_]{0,99}$'

export interface VaultService {
  as(caller: Caller): VaultApi
}

/** The vault for use inside the host. */
export interface InternalVault extends VaultService {
  /** Returns the values of secrets. */
  open(names: readonly string[]): Promise<OpenSecrets>
}

/** Values of secrets while in use. */
export interface OpenSecrets {
  readonly values: ReadonlyMap<string, string>
  /** changes whenever one of the secrets is written */
  readonly revision: string
}

export interface VaultApi {
  list(): Promise<readonly SecretInfo[]>
  /** Stores a secret, replacing an existing one. Throws `TOO_LARGE` when the tenant has too many secrets. */
  put(name: string, value: string): Promise<{ readonly secret: SecretInfo; readonly created: boolean }>
  remove(name: string): Promise<void>
}
