/** Reads a response that does not end, as it arrives. */
export interface OpenAnswer extends AsyncDisposable {
  readonly status: number
  readonly type: string
  /** Text received so far; of a long response, only the end */
  readonly text: string
  /** Resolves when the received text contains `text`; rejects when the response ends before. */
  until(text: string): Promise<void>
  ended(): Promise<void>
}

/** Maximum number of stored characters */
const MAX_KEPT = 200_000

export async function openAnswer(url: string, headers: Record<string, string> = {}): Promise<OpenAnswer> {
  const gone = new AbortController()
  const response = await fetch(url, { headers, signal: gone.signal })
  let text = ''
  let isOver = false
  let wake: () => void = () => undefined
  const reading = (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        text = (text + decoder.decode(chunk, { stream: true })).slice(-MAX_KEPT)
        wake()
      }
    } catch {
      // aborted, or closed by the server
    }
    isOver = true
    wake()
  })()
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    get text() {
      return text
    },
    async until(wanted) {
      while (!text.includes(wanted)) {
        if (isOver) throw new Error(`the answer ended without ${wanted}: ${text}`)
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    ended: () => reading,
    async [Symbol.asyncDispose]() {
      gone.abort()
      await reading
    },
  }
}
