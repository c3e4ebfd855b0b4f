/** What records keep of the servers that have models: headers are sealed in them, and opened for requests. */
import { ownValue } from '#kernel'
import { type Seal, SEALED } from '#platform'
import type { RemoteModel, RemoteUpload } from '../contract.ts'
import { readRemoteUpload, type ReadRemoteUpload } from '../read-upload.ts'
import type { SealedRemote } from './read-remote.ts'

export class RemoteRecords {
  readonly #seal: Pick<Seal, 'close' | 'open'>

  constructor(seal: Pick<Seal, 'close' | 'open'>) {
    this.#seal = seal
  }

  /** `former`: what the record says so far. `VALIDATION` lists all that is wrong. */
  read(tenant: string, given: RemoteUpload, former: SealedRemote | undefined): ReadRemoteUpload {
    return readRemoteUpload(given, (url, header, text) => {
      const place = placeOf(tenant, given.name, url)
      if (!text.startsWith(SEALED)) return this.#seal.close(text, place + header)
      // what was told one server is not sent to another by somebody who does not know it
      const isKept = former !== undefined && place === placeOf(tenant, given.name, former.url)
      return isKept && ownValue(former.headers, header) === text ? text : undefined
    })
  }

  /** With headers as they are sent. `STORE` when another key sealed them. */
  opened(tenant: string, name: string, remote: SealedRemote): Required<RemoteModel> {
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
