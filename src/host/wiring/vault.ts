/** Rules and the vault: what `${vault.KEY}` stands for. */
import type { Ports } from '#core'
import type { VaultService } from '#services/vault/contract'

/** Of a tenant; `vault` is asked at each call. A host without one has no secrets. */
export function secretOf(tenant: string, vault: () => VaultService | undefined): NonNullable<Ports['secret']> {
  return async (key) => (await vault()?.open(tenant, [key]))?.values.get(key)
}
