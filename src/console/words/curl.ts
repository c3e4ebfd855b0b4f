/** Requests as curl commands. */

/** Returns a command that asks for the secret, so that no secret is in a history of commands. */
export function curlText(url: string, method: string, body?: unknown): string {
  const words = ['curl', '-u', 'KEY', ...(method === 'GET' ? [] : ['-X', method]), quoted(url)]
  if (body !== undefined) words.push('-H', quoted('content-type: application/json'), '-d', quoted(JSON.stringify(body)))
  return words.join(' ')
}

function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
