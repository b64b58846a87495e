// Starts `streamc lsp` for specs and for the test files beside them.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const [command, ...args] = workspace.getConfiguration("streamc").get("command");
  client = new LanguageClient(
    "streamc",
    "streamc",
    { command, args },
    {
      documentSelector: [
        { language: "streamc" },
        { scheme: "file", language: "yaml", pattern: "**/tests/*.{yaml,yml}" },
      ],
    },
  );
  await client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
