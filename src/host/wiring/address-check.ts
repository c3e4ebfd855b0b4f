/** Checks that the host may connect to an address, by the same list as calls of rules. */
import { lookup } from 'node:dns/promises'
import { AllowList, AppError } from '#kernel'

/** Returns a function that rejects a `host:port` on a private network unless it is allowed. */
export function addressCheck(allowUrl: readonly string[]): (address: string) => Promise<void> {
  const allowed = new AllowList(allowUrl)
  return async (address) => {
    const url = new URL(`http://${address}`)
    const found = await lookup(url.hostname.replace(/^\[|\]$/g, ''), { all: true })
    for (const { address: ip } of found) {
      const refusal = allowed.refusal(url, ip)
      if (refusal !== undefined) throw new AppError('FORBIDDEN', refusal)
    }
  }
}
