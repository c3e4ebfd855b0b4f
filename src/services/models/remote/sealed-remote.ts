/** What records keep of the servers that have models: headers are sealed in them, and opened for requests. */
import { at, Issues, ownValue } from '#kernel'
import { type Seal, SEALED } from '#platform'
import type { RemoteModel } from '../model-schema.ts'

/** Whole, with headers that are sealed. */
export type SealedRemote = Required<RemoteModel>

interface Owner {
  readonly tenant: string
  /** of the model */
  readonly name: string
}

/** `former`: what its record says so far. `VALIDATION` for a sealed text that is not of this header of that server. */
export function sealedRemote(
  seal: Pick<Seal, 'close'>,
  owner: Owner,
  { url, protocol, model = owner.name, headers = {} }: RemoteModel,
  former: SealedRemote | undefined,
): SealedRemote {
  const issues = new Issues('UPLOAD', 20)
  const place = placeOf(owner, url)
  // a header meant for one server is not sent to another by a user who does not know it
  const kept = former !== undefined && place === placeOf(owner, former.url) ? former.headers : {}
  const sealed = Object.entries(headers).map(([header, text]) => {
    if (!text.startsWith(SEALED)) return [header, seal.close(text, place + header)] as const
    if (ownValue(kept, header) !== text) {
      const wrong = 'is a sealed text that this header of that server does not have'
      issues.wrong(`/remote/headers${at('', header)}`, wrong, 'send the text itself')
    }
    return [header, text] as const
  })
  issues.throwIfAny('The upload')
  return { url, protocol, model, headers: Object.fromEntries(sealed) }
}

/** With headers as they are sent. `STORE` when another key sealed them. */
export function openedRemote(seal: Pick<Seal, 'open'>, owner: Owner, remote: SealedRemote): SealedRemote {
  const place = placeOf(owner, remote.url)
  const headers = Object.entries(remote.headers).map(([header, text]) => [header, seal.open(text, place + header)])
  return { ...remote, headers: Object.fromEntries(headers) as SealedRemote['headers'] }
}

/** Where sealed headers belong: to a model, and to a server. */
function placeOf({ tenant, name }: Owner, url: string): string {
  return `models/${tenant}/${name}/${new URL(url).origin}/`
}
