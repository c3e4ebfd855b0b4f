/** Names of headers that are about one connection, and not about what is asked or answered over it. */
export const CONNECTION_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const
