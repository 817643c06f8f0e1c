/** What the host and the modules' files share on a page. */
interface Window {
  piecesModules: Record<string, string>;
  pieces: any;
}
interface HTMLElement {
  cleanUp?: unknown;
}
