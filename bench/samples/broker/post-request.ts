/** Post as bytes, for cheap clients. */
export interface PostRequest {
  readonly port: number
  readonly device: number
  readonly body: string
  readonly head?: readonly string[]
}

export function postRequest(request: PostRequest): string {
  const { port, device, body, head = [] } = request
  return [
    `POST /resources/boiler-${device}/events HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `authorization: Basic ${Buffer.from('bench:bench').toString('base64')}`,
    ...head,
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

/** Throws unless the answer begins with status 200. */
export function expectGood(answer: Buffer): void {
  const status = answer.toString('latin1', 9, 12)
  if (status !== '200') throw new Error(`the server answered ${answer.toString('latin1', 0, 300)}`)
}
