/**
 * Secrets of tenants, by name: stored sealed, and handed to what runs for the tenant, such as functions and rules. The API
 * lists their names.
 *
 * VAULT-1 no method of the API gives a value, and none is in a text of an error
 * VAULT-2 a value is stored sealed: who has the store without the key of the host has no value
 * VAULT-3 no method reaches a secret of another tenant
 *
 * Errors are AppErrors: `VALIDATION`, `NOT_FOUND`, `TOO_LARGE`, `STORE` (the key of the host is another one).
 */
import type { Caller } from '#kernel'
import type { SecretInfo } from './secret-schema.ts'

export type { SecretInfo } from './secret-schema.ts'

/** Also a name of a variable of an environment. */
export const SECRET_NAME = '^[A-Za-z_][A-Za-z0-9_]{0,99}$'

/** The service as callers reach it. */
export interface VaultService {
  as(caller: Caller): VaultApi
}

/** The service inside the host: what its neighbours and the host call. */
export interface InternalVault extends VaultService {
  /** For what runs inside of the host. */
  open(names: readonly string[]): Promise<OpenSecrets>
}

/** Values of secrets, for as long as they are used. */
export interface OpenSecrets {
  /** those that are there, by name */
  readonly values: ReadonlyMap<string, string>
  /** another one after one of them was put again */
  readonly revision: string
}

/** What one caller can do with the secrets of its tenant. */
export interface VaultApi {
  /** By name. */
  list(): Promise<readonly SecretInfo[]>
  /** Replaces the one that there is. `TOO_LARGE` for more secrets than a tenant has. */
  put(name: string, value: string): Promise<{ readonly secret: SecretInfo; readonly created: boolean }>
  /** `NOT_FOUND` */
  remove(name: string): Promise<void>
}
