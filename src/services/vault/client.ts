/** The vault over fetch: the same contract, for the command line and for other processes. */
import { type Http, pathOf, typed } from '#services/shared/client'
import type { SecretInfo, VaultApi } from './contract.ts'

/** What the caller behind the credentials can do. Errors are the same AppErrors, as far as the wire tells them apart. */
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
