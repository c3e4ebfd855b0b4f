/** Typed client of the vault over fetch, with the same contract. */
import { type Http, pathOf, typed } from '#services/shared/client'
import type { SecretInfo, VaultApi } from './contract.ts'

export function vaultClient(http: Http): VaultApi {
  return {
    list: async () => {
      const answer = http.json('GET', '/vault/v1/secrets')
      return (await typed<{ readonly secrets: readonly SecretInfo[] }>(answer)).secrets
    },
    put: async (name, value) => {
      const answer = await http.open('PUT', pathOf`/vault/v1/secrets/${name}`, { body: { value } })
      return { secret: await typed<SecretInfo>(answer.json()), created: answer.status === 201 }
    },
    remove: async (name) => {
      await http.open('DELETE', pathOf`/vault/v1/secrets/${name}`)
    },
  }
}
