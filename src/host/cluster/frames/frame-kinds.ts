/** Kinds and limits of frames. Numbers keep their meaning, since hosts of different versions talk to each other. */

/** Protocol name in the `Upgrade` header. */
export const PROTOCOL = 'reflexarc-frames-1'
export const FRAMES_PATH = '/cluster/frames'
export const NONCE_HEADER = 'reflexarc-nonce'

/** Forwarding host: a request. */
export const ASK = 1
/** Forwarding host: cancels a request. */
export const DROP = 2
/** Forwarding host: acknowledges the number of bytes of pieces in its head. */
export const MORE = 3

/** Owner: a whole answer. */
export const ANSWER = 16
/** Owner: head of an answer in pieces. */
export const BEGIN = 17
export const PIECE = 18
/** Owner: end of the pieces. */
export const END = 19
/** Owner: the answer failed or broke off. */
export const BROKEN = 20
/** Owner, stopping: the request had no effect. */
export const UNTAKEN = 21
/** Owner, stopping: accepts no further requests. Belongs to no request. */
export const LEAVING = 22

/** Maximum bytes of a body in one frame */
export const MAX_BODY = 65_536
/** Maximum bytes of a head */
export const MAX_HEAD = 131_072
export const MAX_OPEN = 2_048
/** Maximum unacknowledged bytes of one answer */
export const WINDOW = 131_072

/** Method, address, headers, and the hop mark: count, term, slot, IP of the client */
export type AskHead = readonly [
  string,
  string,
  Readonly<Record<string, string | readonly string[]>>,
  number,
  number,
  number,
  string,
]
export type AnswerHead = readonly [number, Readonly<Record<string, HeaderValue>>]

export type HeaderValue = string | number | readonly string[]
