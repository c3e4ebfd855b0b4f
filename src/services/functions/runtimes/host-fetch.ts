/** Lets functions in JavaScript send requests through the host. */

export interface HostSide {
  ask(method: string, params: unknown): Promise<unknown>
  log(level: string, text: string): void
}

/** Fetches through the host, which applies its rules for addresses. */
export async function fetchByHost(
  host: HostSide,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const request = new Request(input, init)
  const body = request.method === 'GET' || request.method === 'HEAD' ? undefined : await request.text()
  const answer = (await host.ask('fetch', {
    url: request.url,
    method: request.method,
    headers: Object.fromEntries(request.headers),
    ...(body !== undefined && { body }),
  })) as { readonly status: number; readonly statusText: string; readonly body: string }
  const empty = [204, 205, 304].includes(answer.status)
  return new Response(empty ? null : answer.body, { status: answer.status, statusText: answer.statusText })
}
