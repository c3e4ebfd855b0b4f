/**
 * Implements the part of S3 over HTTP that the content store uses, in memory. It checks no signatures, which other
 * tests do.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface S3Server {
  readonly endpoint: string
  /** Objects by key, and incomplete uploads */
  readonly objects: ReadonlyMap<string, Buffer>
  readonly uploads: ReadonlyMap<string, unknown>
  close(): Promise<void>
}

export async function s3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>()
  let ids = 0

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://s3')
    const key = decodeURIComponent(url.pathname.split('/').slice(2).join('/'))
    const body = await buffer(request)
    const upload = uploads.get(url.searchParams.get('uploadId') ?? '')
    const xml = (text: string): unknown => response.setHeader('content-type', 'application/xml').end(text)
    switch (`${request.method} ${kindOf(url)}`) {
      case 'PUT object': {
        const from = request.headers['x-amz-copy-source']
        const source =
          typeof from === 'string' ? objects.get(decodeURIComponent(from).split('/').slice(1).join('/')) : body
        if (source === undefined) return missing(response)
        objects.set(key, source)
        return void xml(`<CopyObjectResult><ETag>"${md5(source)}"</ETag></CopyObjectResult>`)
      }
      case 'GET object': {
        const found = objects.get(key)
        if (found === undefined) return missing(response)
        const [, from = '0', until = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
        response.statusCode = request.headers.range === undefined ? 200 : 206
        return void response.end(found.subarray(Number(from), until === '' ? undefined : Number(until) + 1))
      }
      case 'DELETE object':
        objects.delete(key)
        return void response.writeHead(204).end()
      case 'POST uploads':
        uploads.set(`u${(ids += 1)}`, { key, parts: new Map() })
        return void xml(`<InitiateMultipartUploadResult><UploadId>u${ids}</UploadId></InitiateMultipartUploadResult>`)
      case 'PUT upload':
        upload?.parts.set(Number(url.searchParams.get('partNumber')), body)
        return void response.setHeader('etag', `"${md5(body)}"`).end()
      case 'POST upload':
        objects.set(key, Buffer.concat([...(upload?.parts ?? [])].sort(([a], [b]) => a - b).map(([, part]) => part)))
        uploads.delete(url.searchParams.get('uploadId') ?? '')
        return void xml('<CompleteMultipartUploadResult/>')
      case 'DELETE upload':
        uploads.delete(url.searchParams.get('uploadId') ?? '')
        return void response.writeHead(204).end()
      case 'GET uploads': {
        const open = [...uploads].filter(([, one]) => one.key.startsWith(url.searchParams.get('prefix') ?? ''))
        const shown = open.map(([id, one]) => `<Upload><Key>${one.key}</Key><UploadId>${id}</UploadId></Upload>`)
        return void xml(`<ListMultipartUploadsResult>${shown.join('')}</ListMultipartUploadsResult>`)
      }
      default:
        response.writeHead(501).end()
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function kindOf({ searchParams }: URL): string {
  if (searchParams.has('uploads')) return 'uploads'
  return searchParams.has('uploadId') ? 'upload' : 'object'
}

function missing(response: ServerResponse): void {
  response
    .writeHead(404, { 'content-type': 'application/xml' })
    .end('<Error><Code>NoSuchKey</Code><Message>none</Message></Error>')
}

function md5(content: Buffer): string {
  return createHash('md5').update(content).digest('hex')
}
