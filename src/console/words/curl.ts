/** Requests as curl commands and as code. */

/** Returns a command that asks for the secret, so that no secret is in a history of commands. */
export function curlText(url: string, method: string, body?: unknown): string {
  const words = ['curl', '-u', 'KEY', ...(method === 'GET' ? [] : ['-X', method]), quoted(url)]
  if (body !== undefined) words.push('-H', quoted('content-type: application/json'), '-d', quoted(JSON.stringify(body)))
  return words.join(' ')
}

/** Returns JavaScript that sends the request, with the key and its secret from the environment. */
export function codeText(url: string, method: string, body?: unknown): string {
  const authorization = '`Basic ${btoa(`${process.env.REFLEXARC_KEY}:${process.env.REFLEXARC_SECRET}`)}`'
  const lines = [
    `const answer = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    '  headers: {',
    `    authorization: ${authorization},`,
    ...(body === undefined ? [] : ["    'content-type': 'application/json',"]),
    '  },',
    ...(body === undefined
      ? []
      : [`  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`]),
    '})',
    'console.log(answer.status, await answer.json())',
  ]
  return `${lines.join('\n')}\n`
}

function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
