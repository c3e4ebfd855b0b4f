/** What records keep of the servers that have models: headers are sealed in them, and opened for requests. */
import { at, Issues, ownValue } from '#kernel'
import { type Seal, SEALED } from '#platform'
import type { RemoteModel } from '../model-schema.ts'

/** Whole, with headers that are sealed. */
export type SealedRemote = Required<RemoteModel>

export class RemoteRecords {
  readonly #seal: Pick<Seal, 'close' | 'open'>

  constructor(seal: Pick<Seal, 'close' | 'open'>) {
    this.#seal = seal
  }

  /** `former`: what the record of the model says so far. `VALIDATION` for a sealed text that is not of this header of that server. */
  sealed(tenant: string, name: string, given: RemoteModel, former: SealedRemote | undefined): SealedRemote {
    const { url, protocol, model = name, headers = {} } = given
    const issues = new Issues('UPLOAD', 20)
    const place = placeOf(tenant, name, url)
    // what was told one server is not sent to another by somebody who does not know it
    const kept = former !== undefined && place === placeOf(tenant, name, former.url) ? former.headers : {}
    const sealed = Object.entries(headers).map(([header, text]) => {
      if (!text.startsWith(SEALED)) return [header, this.#seal.close(text, place + header)]
      if (ownValue(kept, header) !== text) {
        const wrong = 'is a sealed text that this header of that server does not have'
        issues.wrong(`/remote/headers${at('', header)}`, wrong, 'send the text itself')
      }
      return [header, text]
    })
    issues.throwIfAny('The upload')
    return { url, protocol, model, headers: Object.fromEntries(sealed) as Readonly<Record<string, string>> }
  }

  /** With headers as they are sent. `STORE` when another key sealed them. */
  opened(tenant: string, name: string, remote: SealedRemote): SealedRemote {
    const place = placeOf(tenant, name, remote.url)
    const headers = Object.entries(remote.headers).map(([header, sealed]) => {
      return [header, this.#seal.open(sealed, place + header)] as const
    })
    return { ...remote, headers: Object.fromEntries(headers) }
  }
}

/** Where sealed headers belong: to a model, and to a server. */
function placeOf(tenant: string, name: string, url: string): string {
  return `models/${tenant}/${name}/${new URL(url).origin}/`
}
