/** Serves one request of the streamable HTTP transport: each has a server of its own, so that no state is kept. */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { serveTools, type ServerOptions } from './server.ts'

export interface McpRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** parsed JSON */
  readonly body: unknown
  /** aborts when the client disconnects */
  readonly signal: AbortSignal
}

const ANYTHING = '*/*'
const BOTH_FORMS = 'application/json, text/event-stream'

/** Returns a stream of events for calls, and an answer without a body for notifications. */
export async function answerMcp({ headers, body, signal }: McpRequest, options: ServerOptions): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({})
  const server = await serveTools(transport, options)
  signal.addEventListener('abort', () => void server.close(), { once: true })
  const { accept = ANYTHING } = headers
  // clients such as curl accept anything
  const all: McpRequest['headers'] = { ...headers, accept: accept === ANYTHING ? BOTH_FORMS : accept }
  const given = ['accept', 'content-type', 'mcp-protocol-version'].flatMap((name) => {
    const value = all[name]
    return typeof value === 'string' ? [[name, value] as [string, string]] : []
  })
  // only headers and body are read
  const request = new Request('http://localhost/mcp', { method: 'POST', headers: given })
  return transport.handleRequest(request, { parsedBody: body })
}
