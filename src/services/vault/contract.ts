/**
 * Secrets of tenants, by name: stored sealed, and available to functions and rules of the tenant. The API lists their
 * names.
 *
 * VAULT-1 methods of the API and texts of errors never contain a value
 * VAULT-2 a value is stored sealed: the store without the key of the host does not reveal it
 * VAULT-3 no method reaches a secret of another tenant
 *
 * Errors are AppErrors: `VALIDATION`, `NOT_FOUND`, `TOO_LARGE`, `STORE` (the key of the host is another one).
 */
import type { Caller } from '#kernel'
import type { SecretInfo } from './secret-schema.ts'

export type { SecretInfo } from './secret-schema.ts'

/** Valid as a name of an environment variable. */
export const SECRET_NAME = '^[A-Za-z_][A-Za-z0-9_]{0,99}$'

export interface VaultService {
  as(caller: Caller): VaultApi
}

/** Service inside the host, for neighbours and the host. */
export interface InternalVault extends VaultService {
  /** Values for code inside of the host. */
  open(names: readonly string[]): Promise<OpenSecrets>
}

/** Values of secrets while they are in use. */
export interface OpenSecrets {
  readonly values: ReadonlyMap<string, string>
  /** Changes whenever one of them is written */
  readonly revision: string
}

export interface VaultApi {
  list(): Promise<readonly SecretInfo[]>
  /** Replaces an existing one. Throws `TOO_LARGE` above the limit of secrets of a tenant. */
  put(name: string, value: string): Promise<{ readonly secret: SecretInfo; readonly created: boolean }>
  remove(name: string): Promise<void>
}
