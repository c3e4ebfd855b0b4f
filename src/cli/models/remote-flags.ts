/** What the options of `models add` say of the server that has a model. */
import { AppError } from '#kernel'
import type { RemoteModel, RemoteProtocol } from '#services/models/contract'

export interface RemoteFlags {
  remote?: string
  protocol?: RemoteProtocol
  model?: string
  header: readonly string[]
}

/** Undefined: there is no server, the model is in a file. `USAGE` */
export function remoteOf({ remote: url, protocol, model, header }: RemoteFlags): RemoteModel | undefined {
  if (url === undefined) {
    const names = { protocol, model, header: header[0] }
    const extra = Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]))
    if (extra.length > 0) throw new AppError('USAGE', `${extra.join(' and ')} go with --remote ADDRESS`)
    return undefined
  }
  if (protocol === undefined) throw new AppError('USAGE', '--remote goes with --protocol v1 or --protocol v2')
  const headers = Object.fromEntries(header.map(headerOf))
  return { url, protocol, ...(model !== undefined && { model }), ...(header.length > 0 && { headers }) }
}

function headerOf(text: string): readonly [string, string] {
  const at = text.indexOf(':')
  // the text is not shown: it may be a secret
  if (at < 1) throw new AppError('USAGE', "--header: write 'name: value', such as 'Authorization: Bearer ...'")
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
