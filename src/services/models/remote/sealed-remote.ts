/** Stores the servers of models with sealed headers, which are opened only for requests. */
import { at, Issues, ownValue } from '#kernel'
import { type Seal, SEALED } from '#platform'
import type { RemoteModel } from '../model-schema.ts'

export type SealedRemote = Required<RemoteModel>

interface Owner {
  readonly tenant: string
  readonly name: string
}

/**
 * Seals the headers. `former`: the stored record. Throws `VALIDATION` for a sealed text that does not belong to this
 * header of this server.
 */
export function sealedRemote(
  seal: Pick<Seal, 'close'>,
  owner: Owner,
  { url, protocol, model = owner.name, headers = {} }: RemoteModel,
  former: SealedRemote | undefined,
): SealedRemote {
  const issues = new Issues('UPLOAD', 20)
  const name = nameOf(owner, url)
  // a user who does not know a header must not be able to send it to another server
  const kept = former !== undefined && name === nameOf(owner, former.url) ? former.headers : {}
  const sealed = Object.entries(headers).map(([header, text]) => {
    if (!text.startsWith(SEALED)) return [header, seal.close(text, name + header)] as const
    if (ownValue(kept, header) !== text) {
      const wrong = 'is an encrypted text of another header or server'
      issues.wrong(`/remote/headers${at('', header)}`, wrong, 'send the plain text')
    }
    return [header, text] as const
  })
  issues.throwIfAny('The upload')
  return { url, protocol, model, headers: Object.fromEntries(sealed) }
}

/** Opens the headers. Throws `STORE` when they were sealed with another key. */
export function openedRemote(seal: Pick<Seal, 'open'>, owner: Owner, remote: SealedRemote): SealedRemote {
  const name = nameOf(owner, remote.url)
  const headers = Object.entries(remote.headers).map(([header, text]) => [header, seal.open(text, name + header)])
  return { ...remote, headers: Object.fromEntries(headers) as SealedRemote['headers'] }
}

function nameOf({ tenant, name }: Owner, url: string): string {
  return `models/${tenant}/${name}/${new URL(url).origin}/`
}
