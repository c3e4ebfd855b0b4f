/** Where the pages and the API of the host are. */

/** Path of the console, such as `/console/`. */
export const CONSOLE = new URL(document.baseURI).pathname

/** URL of the API, without a slash at the end. */
export const API = new URL('..', document.baseURI).href.replace(/\/$/, '')
