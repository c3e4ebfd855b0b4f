/** Stored servers of models, whose headers are sealed and opened for requests only. */
import { at, Issues, ownValue } from '#kernel'
import { type Seal, SEALED } from '#platform'
import type { RemoteModel } from '../model-schema.ts'

/** Complete, with sealed headers. */
export type SealedRemote = Required<RemoteModel>

interface Owner {
  readonly tenant: string
  readonly name: string
}

/**
 * `former`: the stored record. Throws `VALIDATION` for a sealed text that does not belong to this header of that
 * server.
 */
export function sealedRemote(
  seal: Pick<Seal, 'close'>,
  owner: Owner,
  { url, protocol, model = owner.name, headers = {} }: RemoteModel,
  former: SealedRemote | undefined,
): SealedRemote {
  const issues = new Issues('UPLOAD', 20)
  const place = placeOf(owner, url)
  // a header for one server must not be sent to another by a user who does not know it
  const kept = former !== undefined && place === placeOf(owner, former.url) ? former.headers : {}
  const sealed = Object.entries(headers).map(([header, text]) => {
    if (!text.startsWith(SEALED)) return [header, seal.close(text, place + header)] as const
    if (ownValue(kept, header) !== text) {
      const wrong = 'is a sealed text of another header or server'
      issues.wrong(`/remote/headers${at('', header)}`, wrong, 'send the text itself')
    }
    return [header, text] as const
  })
  issues.throwIfAny('The upload')
  return { url, protocol, model, headers: Object.fromEntries(sealed) }
}

/** With headers as sent. Throws `STORE` when another key sealed them. */
export function openedRemote(seal: Pick<Seal, 'open'>, owner: Owner, remote: SealedRemote): SealedRemote {
  const place = placeOf(owner, remote.url)
  const headers = Object.entries(remote.headers).map(([header, text]) => [header, seal.open(text, place + header)])
  return { ...remote, headers: Object.fromEntries(headers) as SealedRemote['headers'] }
}

function placeOf({ tenant, name }: Owner, url: string): string {
  return `models/${tenant}/${name}/${new URL(url).origin}/`
}
